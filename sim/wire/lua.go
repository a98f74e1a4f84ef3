package wire

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	luaparse "github.com/yuin/gopher-lua/parse"
)

// scripts carry out EVAL and EVALSHA for a node, on the Lua of miniredis and with its commands. miniredis makes a Lua state for
// every call, which takes two thirds of a run's time; these keep theirs.
type scripts struct {
	node  *server.Server
	known map[string]*lua.FunctionProto // by the SHA-1 of the text
	inner *server.Peer                  // who the commands of a script come from
	out   bytes.Buffer                  // their replies
	in    *bufio.Reader                 // of these
}

func newScripts(node *server.Server) *scripts {
	s := &scripts{node: node, known: map[string]*lua.FunctionProto{}}
	s.inner = server.NewPeer(bufio.NewWriter(&s.out))
	s.in = bufio.NewReader(&s.out)
	return s
}

// knows says whether a script can be called by its SHA-1.
func (s *scripts) knows(sha string) bool { return s.known[strings.ToLower(sha)] != nil }

// forget is what a restart does, and SCRIPT FLUSH.
func (s *scripts) forget() { clear(s.known) }

// compiled are the scripts of all nodes by their text: compiling one takes as long as running it.
var compiled sync.Map

func compile(text string) (*lua.FunctionProto, error) {
	if p, ok := compiled.Load(text); ok {
		return p.(*lua.FunctionProto), nil
	}
	chunk, err := luaparse.Parse(strings.NewReader(text), "user_script")
	if err != nil {
		return nil, err
	}
	p, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	p.IsVarArg &^= lua.VarArgNeedsArg // no table of the arguments: a script has none
	compiled.Store(text, p)
	return p, nil
}

// eval answers EVAL and EVALSHA.
func (s *scripts) eval(c *server.Peer, command string, args []string) {
	if len(args) < 2 {
		c.WriteError(fmt.Sprintf("ERR wrong number of arguments for '%s' command", strings.ToLower(command)))
		return
	}
	script := s.known[strings.ToLower(args[0])]
	if command == "EVAL" {
		var err error
		if script, err = compile(args[0]); err != nil {
			c.WriteError("ERR Error compiling script (new function): " + oneLine(err.Error()))
			return
		}
		sum := sha1.Sum([]byte(args[0]))
		s.known[hex.EncodeToString(sum[:])] = script
	} else if script == nil {
		c.WriteError("NOSCRIPT No matching script. Please use EVAL.")
		return
	}
	n, err := strconv.Atoi(args[1])
	switch args = args[2:]; {
	case err != nil:
		c.WriteError("ERR value is not an integer or out of range")
	case n < 0:
		c.WriteError("ERR Number of keys can't be negative")
	case n > len(args):
		c.WriteError("ERR Number of keys can't be greater than number of args")
	default:
		s.run(c, script, args[:n], args[n:])
	}
}

// interpreter is a Lua state that runs scripts one after the other, for whichever node borrows it.
type interpreter struct {
	state  *lua.LState
	lentTo *scripts
}

var interpreters = sync.Pool{New: func() any { return newInterpreter() }}

func newInterpreter() *interpreter {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	in := &interpreter{state: l}
	l.SetGlobal("redis", l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{
		"call": in.call, "pcall": in.pcall, "error_reply": errorReply, "status_reply": statusReply, "sha1hex": sha1hex,
		"replicate_commands": always}))
	// A script shares nothing with the next one.
	l.SetMetatable(l.G.Global, l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{
		"__newindex": func(l *lua.LState) int {
			l.RaiseError("Script attempted to create global variable '%s'", l.Get(2))
			return 0
		},
		"__index": func(l *lua.LState) int {
			l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2))
			return 0
		},
	}))
	return in
}

func (s *scripts) run(c *server.Peer, script *lua.FunctionProto, keys, args []string) {
	in := interpreters.Get().(*interpreter)
	in.lentTo = s
	l := in.state
	l.G.Global.RawSetString("KEYS", list(l, keys))
	l.G.Global.RawSetString("ARGV", list(l, args))
	l.Push(l.NewFunctionFromProto(script))
	if err := l.PCall(0, 1, nil); err != nil { // wherever it ended, nothing of it is left on the stack
		c.WriteError(ending(err))
	} else {
		answer(c, l.Get(1))
	}
	l.SetTop(0)
	in.lentTo = nil
	interpreters.Put(in)
}

func list(l *lua.LState, texts []string) *lua.LTable {
	t := l.CreateTable(len(texts), 0)
	for _, text := range texts {
		t.Append(lua.LString(text))
	}
	return t
}

// ending is the error with which a script ended: that of a command it called, as it is, or one of its own.
func ending(err error) string {
	if raised := (*lua.ApiError)(nil); errors.As(err, &raised) {
		if t, ok := raised.Object.(*lua.LTable); ok {
			return t.RawGetString("err").String()
		}
		return "ERR " + oneLine(raised.Object.String())
	}
	return "ERR " + oneLine(err.Error())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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
	s := in.lentTo
	s.out.Reset()
	s.in.Reset(&s.out)
	s.node.Dispatch(s.inner, args)
	s.inner.Flush()
	got, err := server.ParseReply(s.in)
	if err != nil {
		return failure(l, err.Error()), true
	}
	return value(l, got), false
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
	case int:
		return lua.LNumber(r)
	case int64:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case []byte:
		return lua.LString(r)
	case server.Simple:
		return field(l, "ok", string(r))
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, e := range r {
			t.Append(value(l, e))
		}
		return t
	case error:
		return failure(l, r.Error())
	}
	panic(fmt.Sprintf("wire: a script cannot see a %T", reply))
}

// answer writes what a script returned. A number loses its fraction, and a list ends with the first nil.
func answer(c *server.Peer, v lua.LValue) {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			c.WriteInt(1)
		} else {
			c.WriteNull()
		}
	case lua.LNumber:
		c.WriteInt(int(v))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		if text, ok := v.RawGetString("err").(lua.LString); ok {
			c.WriteError(string(text))
			return
		}
		if text, ok := v.RawGetString("ok").(lua.LString); ok {
			c.WriteInline(string(text))
			return
		}
		n := 0
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		c.WriteLen(n)
		for i := range n {
			answer(c, v.RawGetInt(i+1))
		}
	default:
		c.WriteNull()
	}
}
