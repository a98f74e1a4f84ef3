package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/redis"
)

// eval is EVAL and EVALSHA.
func (m *memory) eval(command string, args []string) any {
	if len(args) < 2 {
		return rediscmd.ServerError(fmt.Sprintf("ERR wrong number of arguments for '%s' command", strings.ToLower(command)))
	}
	n, err := strconv.Atoi(args[1])
	run, rest := m.lua.EvalSHA, args[2:]
	if command == "EVAL" {
		run = m.lua.Eval
	}
	switch {
	case err != nil:
		return rediscmd.ServerError("ERR value is not an integer or out of range")
	case n < 0:
		return rediscmd.ServerError("ERR Number of keys can't be negative")
	case n > len(rest):
		return rediscmd.ServerError("ERR Number of keys can't be greater than number of args")
	}
	return run(args[0], rest[:n], rest[n:])
}

// manage is SCRIPT.
func (m *memory) manage(args []string) []byte {
	var reply any = rediscmd.ServerError("ERR wrong number of arguments for 'script' command")
	switch what := strings.ToUpper(args[0]); {
	case what == "LOAD" && len(args) == 2:
		sha, err := m.lua.Load(args[1])
		if reply = sha; err != nil {
			reply = err
		}
	case what == "EXISTS":
		known := []any{}
		for _, sha := range args[1:] {
			n := int64(0)
			if m.lua.Knows(sha) {
				n = 1
			}
			known = append(known, n)
		}
		reply = known
	case what == "FLUSH":
		m.lua.Forget()
		reply = rediscmd.Status("OK")
	}
	return []byte(encoded(reply, proto.Nil))
}

// inScript carries out a command of a script.
func (m *memory) inScript(args []string) any {
	switch name := strings.ToUpper(args[0]); {
	case forbiddenInScripts[name]:
		return rediscmd.ServerError("ERR This Redis command is not allowed from script")
	case isNotSimulated(args) != "":
		m.lua.Nonsense = &redis.Nonsense{What: "in a script: " + isNotSimulated(args)}
		return rediscmd.ServerError("ERR " + m.lua.Nonsense.Error())
	}
	m.replies.Reset(bytes.NewReader(m.inner.dispatch(m.redis.Server(), args)))
	got, err := server.ParseReply(&m.replies)
	if err != nil {
		return rediscmd.ServerError(err.Error())
	}
	return native(got)
}

// native is a reply of miniredis as scripts have it.
func native(reply any) any {
	switch r := reply.(type) {
	case int:
		return int64(r)
	case []byte:
		return string(r)
	case server.Simple:
		return rediscmd.Status(r)
	case error:
		return rediscmd.ServerError(r.Error())
	case []any:
		all := make([]any, len(r))
		for i, e := range r {
			all[i] = native(e)
		}
		return all
	}
	return reply
}
