package script

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"redlocksim/internal/rediscmd"
)

// call is redis.call: the error of a command ends the script.
func (in *interpreter) call(l *lua.LState) int {
	v, failed := in.command(l)
	if failed {
		l.Error(v, 0)
	}
	l.Push(v)
	return 1
}

// pcall is redis.pcall: the error of a command is its result.
func (in *interpreter) pcall(l *lua.LState) int {
	v, _ := in.command(l)
	l.Push(v)
	return 1
}

// command runs the command on the stack and gives its reply; a table with the field err if that is an error.
func (in *interpreter) command(l *lua.LState) (reply lua.LValue, failed bool) {
	args := make([]string, l.GetTop())
	for i := range args {
		switch a := l.Get(i + 1).(type) {
		case lua.LNumber, lua.LString:
			args[i] = a.String()
		default:
			return failure(l, "ERR Lua redis lib command arguments must be strings or integers"), true
		}
	}
	if len(args) == 0 {
		return failure(l, "ERR Please specify at least one argument for this redis.call()"), true
	}
	in.bound.left -= perCommand
	got := in.lentTo.Call(args)
	_, failed = got.(rediscmd.ServerError)
	return value(l, got), failed
}

func failure(l *lua.LState, text string) *lua.LTable { return field(l, "err", text) }

func field(l *lua.LState, name, text string) *lua.LTable {
	t := l.CreateTable(0, 1) // without a size, gopher-lua makes room for 32 fields
	t.RawSetString(name, lua.LString(text))
	return t
}

// errorReply is redis.error_reply.
func errorReply(l *lua.LState) int {
	text := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	l.Push(failure(l, text))
	return 1
}

// statusReply is redis.status_reply.
func statusReply(l *lua.LState) int {
	l.Push(field(l, "ok", l.CheckString(1)))
	return 1
}

// sha1hex is redis.sha1hex.
func sha1hex(l *lua.LState) int {
	sum := sha1.Sum([]byte(l.CheckString(1)))
	l.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}

// always is redis.replicate_commands, which does nothing any more.
func always(l *lua.LState) int {
	l.Push(lua.LTrue)
	return 1
}

// value converts a reply to what a script sees of it.
func value(l *lua.LState, reply any) lua.LValue {
	switch r := reply.(type) {
	case nil:
		return lua.LFalse
	case int64:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case rediscmd.Status:
		return field(l, "ok", string(r))
	case rediscmd.ServerError:
		return failure(l, string(r))
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, e := range r {
			t.Append(value(l, e))
		}
		return t
	}
	panic(fmt.Sprintf("script: a script cannot see a %T", reply))
}
