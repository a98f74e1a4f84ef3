// Package script runs Lua scripts as redis-server does, for the nodes of all tiers: on gopher-lua, with the names that a server
// gives to scripts. It keeps its Lua states: making one for every call takes two thirds of a run's time.
package script

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	luaparse "github.com/yuin/gopher-lua/parse"

	"redlocksim/internal/rediscmd"
)

// Scripts are those of a node. Replies are nil, an int64, a string, a [rediscmd.Status], a list of these as []any, or a
// [rediscmd.ServerError].
type Scripts struct {
	// Call carries out a command of a script.
	Call func(args []string) any
	// Nonsense is a redis.Nonsense: what the last script did that no node simulates; nil if nothing.
	Nonsense error

	known map[string]*lua.FunctionProto // by the SHA-1 of the text
}

// New is the scripts of a node that knows none.
func New(call func(args []string) any) *Scripts {
	return &Scripts{Call: call, known: map[string]*lua.FunctionProto{}}
}

// Knows says whether a script can be called by its SHA-1.
func (s *Scripts) Knows(sha string) bool { return s.known[strings.ToLower(sha)] != nil }

// Forget is SCRIPT FLUSH.
func (s *Scripts) Forget() { clear(s.known) }

// Load is SCRIPT LOAD. The error is a [rediscmd.ServerError].
func (s *Scripts) Load(text string) (sha string, err error) {
	script, err := compile(text)
	if err != nil {
		return "", rediscmd.ServerError("ERR Error compiling script (new function): " + oneLine(err.Error()))
	}
	sum := sha1.Sum([]byte(text))
	sha = hex.EncodeToString(sum[:])
	s.known[sha] = script
	return sha, nil
}

// Eval runs the script with a text, which the node then knows, and EvalSHA one that it knows.
func (s *Scripts) Eval(text string, keys, args []string) any {
	sha, err := s.Load(text)
	if err != nil {
		return err
	}
	return s.EvalSHA(sha, keys, args)
}

// EvalSHA is described with Eval.
func (s *Scripts) EvalSHA(sha string, keys, args []string) any {
	script := s.known[strings.ToLower(sha)]
	if script == nil {
		return Unknown
	}
	in := interpreters.Get().(*interpreter)
	in.lentTo, in.bound.left = s, maxInstructions
	l := in.state
	in.globals.RawSetString("KEYS", list(l, keys))
	in.globals.RawSetString("ARGV", list(l, args))
	l.Push(l.NewFunctionFromProto(script))
	var result any
	if err := l.PCall(0, 1, nil); err != nil { // wherever it ended, nothing of it is left on the stack
		result = rediscmd.ServerError(ending(err))
	} else {
		result = reply(l.Get(1))
	}
	if err := in.bound.Err(); err != nil {
		s.Nonsense = err
	}
	l.SetTop(0)
	in.lentTo = nil
	interpreters.Put(in)
	return result
}

// Unknown is the reply about a script that the node does not know.
const Unknown = rediscmd.ServerError("NOSCRIPT No matching script. Please use EVAL.")

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

// interpreter is a Lua state that runs scripts one after the other, for whichever node borrows it.
type interpreter struct {
	state   *lua.LState
	lentTo  *Scripts
	bound   bound
	globals *lua.LTable          // what _G shows
	shown   map[*lua.LTable]bool // the readonly tables
}

var interpreters = sync.Pool{New: func() any { return newInterpreter() }}

func newInterpreter() *interpreter {
	in := &interpreter{state: lua.NewState(lua.Options{SkipOpenLibs: true}), bound: bound{Context: context.Background()},
		shown: map[*lua.LTable]bool{}}
	in.openGlobals()
	in.state.SetContext(&in.bound)
	return in
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
			return text(t.RawGetString("err"))
		}
		return "ERR " + oneLine(text(raised.Object))
	}
	return "ERR " + oneLine(err.Error())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// reply is what a script returned. A number loses its fraction, and a list ends with the first nil.
func reply(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			return int64(1)
		}
	case lua.LNumber:
		return int64(v)
	case lua.LString:
		return string(v)
	case *lua.LTable:
		if text, ok := v.RawGetString("err").(lua.LString); ok {
			return rediscmd.ServerError(text)
		}
		if text, ok := v.RawGetString("ok").(lua.LString); ok {
			return rediscmd.Status(text)
		}
		all := []any{}
		for i := 1; v.RawGetInt(i) != lua.LNil; i++ {
			all = append(all, reply(v.RawGetInt(i)))
		}
		return all
	}
	return nil
}
