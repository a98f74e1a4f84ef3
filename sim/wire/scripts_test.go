package wire

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/sim/script"
)

// answered is what a script gives for the key k and the argument a, or how its error begins.
var answered = []struct{ script, want string }{
	{`return`, "nil"},
	{`return 3.9`, "3"},
	{`return -3.9`, "-3"},
	{`return true`, "1"},
	{`return false`, "nil"},
	{`return {1, 'two', {3}, false, nil, 6}`, "[1 two [3] nil]"},
	{`return KEYS[1] .. ARGV[1] .. #KEYS .. #ARGV`, "ka11"},
	{`return redis.call('SET', KEYS[1], 7)`, "OK"},
	{`return redis.call('SET', KEYS[1], 7).ok`, "OK"},
	{`return redis.call('GET', KEYS[1])`, "7"},
	{`return redis.call('GETRANGE', KEYS[1], 0, -1)`, "7"},
	{`return type(redis.call('GET', 'none'))`, "boolean"},
	{`return type(redis.call('EXISTS', KEYS[1]))`, "number"},
	{`return redis.call('MGET', KEYS[1], 'none')`, "[7 nil]"},
	{`return #redis.call('MGET', KEYS[1], 'none', KEYS[1])`, "3"},
	{`return redis.call('HGET', KEYS[1], 'f')`, "WRONGTYPE Operation"},
	{`redis.call('HGET', KEYS[1], 'f') return 'went on'`, "WRONGTYPE Operation"},
	{`return redis.pcall('HGET', KEYS[1], 'f')`, "WRONGTYPE Operation"},
	{`return string.sub(redis.pcall('HGET', KEYS[1], 'f').err, 1, 9)`, "WRONGTYPE"},
	{`redis.pcall('HGET', KEYS[1], 'f') return 'went on'`, "went on"},
	{`return redis.error_reply('MINE of it')`, "MINE of it"},
	{`return {err = 'MINE too'}`, "MINE too"},
	{`return redis.status_reply('FINE')`, "FINE"},
	{`return redis.sha1hex('')`, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	{`return redis.replicate_commands()`, "1"},
	{`redis.call('SET', KEYS[1], {})`, "ERR "},
	{`redis.call()`, "ERR "},
	{`return redis.call('DEL', KEYS[1])`, "1"},
	{`x = 1`, "ERR "},
	{`return x`, "ERR "},
	{`error('of its own')`, "ERR "},
	{`return (`, "ERR "},
	{`return string.format('%s %.0f', 'a', 1700000000123) .. math.floor(1.5) .. string.match('a 12', '%d+')`, "a 1700000000123112"},

	{`math.n = 1`, "ERR user_script:1: Attempt to modify a readonly table"},
	{`math.abs = nil`, "ERR user_script:1: Attempt to modify a readonly table"},
	{`tostring = nil`, "ERR user_script:1: Attempt to modify a readonly table"},
	{`KEYS = nil`, "ERR user_script:1: Attempt to modify a readonly table"},
	{`KEYS.x = 1 return KEYS.x`, "1"},
	{`rawset(KEYS, 'x', 1) return KEYS.x`, "1"},
	{`rawset(_G, 'x', 1)`, "ERR Attempt to modify a readonly table"},
	{`rawset(string, 'sub', 1)`, "ERR Attempt to modify a readonly table"},
	{`return ('x'):rep(3) .. #getmetatable(setmetatable({}, {1, 2}))`, "xxx2"},
	{`return {pcall(function() math.x = 1 end)}`, "[nil user_script:1: Attempt to modify a readonly table]"},
	{`return rawget(_G, 'nosuch')`, "nil"},
	{`return print`, "ERR user_script:1: Script attempted to access nonexistent global variable 'print'"},
	{`return dofile`, "ERR user_script:1: Script attempted to access nonexistent global variable 'dofile'"},
	{`return loadfile`, "ERR user_script:1: Script attempted to access nonexistent global variable 'loadfile'"},
	{`return require`, "ERR user_script:1: Script attempted to access nonexistent global variable 'require'"},
	{`return setfenv`, "ERR user_script:1: Script attempted to access nonexistent global variable 'setfenv'"},
	{`return newproxy`, "ERR user_script:1: Script attempted to access nonexistent global variable 'newproxy'"},

	{`return string.format('%5.2f|%-5d|%x|%q|%i|%c|%%', 1.234, 7, 255, 'a"b', 3, 65)`, ` 1.23|7    |ff|"a\"b"|3|A|%`},
	{`return string.format('%10s|%-10s|%.2s|%d|%d', 'ab', 'cd', 'efg', 3.9, '12')`, "        ab|cd        |ef|3|12"},
	{`return string.format('%e %G %+d %05d %#x', 0.5, 1e20, 3, 3, 255)`, "5.000000e-01 1E+20 +3 00003 0xff"},
	{`return string.format('%s', {})`, "ERR user_script:1: bad argument #2 to "},
	{`return string.format('%d')`, "ERR user_script:1: bad argument #2 to "},

	{`return redis.call('SUBSCRIBE', 'c')`, "ERR This Redis command is not allowed from script"},
	{`return redis.call('EVAL', 'return 1', 0)`, "ERR This Redis command is not allowed from script"},
	{`return redis.call('ECHO', 'x')`, "x"},
}

// ofOurs is what a script gives on tier wire only, where it would show the host or run for ever.
var ofOurs = []struct{ script, want string }{
	{`return tostring({})`, "table"},
	{`error(error)`, "ERR function"},
	{`setmetatable(_G, nil)`, "ERR user_script:1: cannot change a protected metatable"},
	{`setmetatable(redis, {})`, "ERR user_script:1: cannot change a protected metatable"},
	{`getmetatable('').__index = nil`, "ERR user_script:1: "},
	{`return math.random`, "nil"},
	{`return collectgarbage('count')`, "0"},
	{`while true do end`, "ERR user_script:1: the script does not end: it has made 10000000 steps"},
	{`while true do pcall(function() while true do end end) end`, "ERR user_script:1: the script does not end: it has made 10000000 steps"},
	{`while true do redis.call('PING') end`, "ERR user_script:1: the script does not end: it has made 10000000 steps"},
	{`return 'the next one does'`, "the next one does"},
	{`return redis.call('RANDOMKEY')`, "ERR in a script: the simulated nodes have no command RANDOMKEY"},
	{`return redis.call('select', 1)`, "ERR in a script: the simulated nodes have one database: SELECT 1"},
}

// TestScriptsAnswerAsAServer: what a script returns and how it fails, with the interpreter of one script lent to the next,
// is what redis-server says.
func TestScriptsAnswerAsAServer(t *testing.T) {
	m := unserved(t)
	for _, a := range slices.Concat(answered, ofOurs) {
		got := m.eval("EVAL", []string{a.script, "1", "k", "a"})
		err, _ := got.(error)
		compareAnswer(t, "tier wire", a.script, a.want, got, err)
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		return // what is wanted has been compared with one before
	}
	real := redis.NewClient(&redis.Options{Addr: redisserver.Start(t).Addr})
	defer real.Close()
	for _, a := range answered {
		got, err := real.Eval(t.Context(), a.script, []string{"k"}, "a").Result()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		compareAnswer(t, "redis-server", a.script, a.want, got, err)
	}
}

// unserved is a node that only scripts ask.
func unserved(t *testing.T) *memory {
	m := &memory{redis: miniredis.NewMiniRedis(), inner: newSession()}
	c, err := m.redis.Dial()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	t.Cleanup(m.redis.Close)
	m.lua = script.New(m.inScript)
	return m
}

func compareAnswer(t *testing.T, who, script, want string, got any, err error) {
	t.Helper()
	text := strings.ReplaceAll(fmt.Sprint(got), "<nil>", "nil")
	switch {
	case err != nil && !strings.HasPrefix(err.Error(), want):
		t.Errorf("%s: %s: %v, want %s", who, script, err, want)
	case err == nil && text != want:
		t.Errorf("%s: %s: %s, want %s", who, script, text, want)
	}
}

// TestScriptsAreForgotten: EVALSHA runs what EVAL has run, until the scripts are forgotten.
func TestScriptsAreForgotten(t *testing.T) {
	const script, sha = "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
	m := unserved(t)
	ask := func(command, text string) string { return fmt.Sprint(m.eval(command, []string{text, "0"})) }
	for i, step := range []struct{ command, text, want string }{
		{"EVALSHA", sha, "NOSCRIPT"}, {"EVAL", script, "1"}, {"EVALSHA", sha, "1"}, {"EVALSHA", strings.ToUpper(sha), "1"}, {"EVALSHA", "ff", "NOSCRIPT"},
	} {
		if got := ask(step.command, step.text); !strings.HasPrefix(got, step.want) {
			t.Errorf("step %d: %s gives %q, want %s", i, step.command, got, step.want)
		}
	}
	m.lua.Forget()
	if got := ask("EVALSHA", sha); !strings.HasPrefix(got, "NOSCRIPT") || m.lua.Knows(sha) {
		t.Errorf("a script that was forgotten gives %q", got)
	}
}
