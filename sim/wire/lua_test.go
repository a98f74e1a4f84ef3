package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
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
}

// TestScriptsAnswerAsAServer: what a script returns and how it fails, with the interpreter of one script lent to the next,
// is what redis-server says.
func TestScriptsAnswerAsAServer(t *testing.T) {
	m := miniredis.NewMiniRedis()
	c, err := m.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_ = c.Close()
	var out bytes.Buffer
	peer, ours := server.NewPeer(bufio.NewWriter(&out)), newScripts(m.Server())
	for _, a := range answered {
		out.Reset()
		ours.eval(peer, "EVAL", []string{a.script, "1", "k", "a"})
		peer.Flush()
		got, err := server.ParseReply(bufio.NewReader(&out))
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
	var out bytes.Buffer
	peer, ours := server.NewPeer(bufio.NewWriter(&out)), newScripts(nil)
	ask := func(command, text string) string {
		out.Reset()
		ours.eval(peer, command, []string{text, "0"})
		peer.Flush()
		return out.String()
	}
	for i, step := range []struct{ command, text, want string }{
		{"EVALSHA", sha, "-NOSCRIPT"}, {"EVAL", script, ":1"}, {"EVALSHA", sha, ":1"}, {"EVALSHA", strings.ToUpper(sha), ":1"}, {"EVALSHA", "ff", "-NOSCRIPT"},
	} {
		if got := ask(step.command, step.text); !strings.HasPrefix(got, step.want) {
			t.Errorf("step %d: %s gives %q, want %s", i, step.command, got, step.want)
		}
	}
	ours.forget()
	if got := ask("EVALSHA", sha); !strings.HasPrefix(got, "-NOSCRIPT") || ours.knows(sha) {
		t.Errorf("a script that was forgotten gives %q", got)
	}
}
