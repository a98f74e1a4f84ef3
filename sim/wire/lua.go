package wire

import (
	"bufio"
	"bytes"
	"context"
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

	nonsense error // a redis.Nonsense: what the last script did that no node simulates
}

func newScripts(node *server.Server) *scripts {
	s := &scripts{node: node, known: map[string]*lua.FunctionProto{}}
	s.inner = server.NewPeer(bufio.NewWriter(&s.out))
	s.in = bufio.NewReader(&s.out)
	return s
}

// knows says whether a script can be called by its SHA-1.
func (s *scripts) knows(sha string) bool { return s.known[strings.ToLower(sha)] != nil }

// forget is SCRIPT FLUSH.
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

// manage is SCRIPT.
func (s *scripts) manage(args []string) []byte {
	switch upper(args[0]) {
	case "LOAD":
		if len(args) != 2 {
			break
		}
		script, err := compile(args[1])
		if err != nil {
			return []byte("-ERR Error compiling script (new function): " + oneLine(err.Error()) + "\r\n")
		}
		sum := sha1.Sum([]byte(args[1]))
		hash := hex.EncodeToString(sum[:])
		s.known[hash] = script
		return []byte(bulk(hash))
	case "EXISTS":
		var text strings.Builder
		fmt.Fprintf(&text, "*%d\r\n", len(args)-1)
		for _, hash := range args[1:] {
			known := 0
			if s.knows(hash) {
				known = 1
			}
			fmt.Fprintf(&text, ":%d\r\n", known)
		}
		return []byte(text.String())
	case "FLUSH":
		s.forget()
		return []byte("+OK\r\n")
	}
	return []byte("-ERR wrong number of arguments for 'script' command\r\n")
}

// interpreter is a Lua state that runs scripts one after the other, for whichever node borrows it.
type interpreter struct {
	state   *lua.LState
	lentTo  *scripts
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

func (s *scripts) run(c *server.Peer, script *lua.FunctionProto, keys, args []string) {
	in := interpreters.Get().(*interpreter)
	in.lentTo, in.bound.left = s, maxInstructions
	l := in.state
	in.globals.RawSetString("KEYS", list(l, keys))
	in.globals.RawSetString("ARGV", list(l, args))
	l.Push(l.NewFunctionFromProto(script))
	if err := l.PCall(0, 1, nil); err != nil { // wherever it ended, nothing of it is left on the stack
		c.WriteError(ending(err))
	} else {
		answer(c, l.Get(1))
	}
	if err := in.bound.Err(); err != nil {
		s.nonsense = err
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
			return text(t.RawGetString("err"))
		}
		return "ERR " + oneLine(text(raised.Object))
	}
	return "ERR " + oneLine(err.Error())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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
