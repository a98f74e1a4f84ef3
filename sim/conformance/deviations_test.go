//go:build linux

package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/adaptertest"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// deviation is where a node of the simulator differs from redis-server on purpose. What its commands are answered last
// is given for each, and nothing of the kind is in the random sequences.
type deviation struct {
	why               string
	commands          string // in turn
	model, wire, real string
}

const (
	modelRefuses = "the model refuses what no protocol of the suite uses, rather than to ignore it"
	wireLenient  = "miniredis reads numbers as Go does; Redis only in the form in which it writes them"
	wireOverflow = "miniredis does not look whether a sum is beyond the largest number"
	wireOrder    = "miniredis reads the index before it looks at the key, redis-server afterwards"
)

var deviations = []deviation{
	{modelRefuses, "SET k v XX", "error ERR", "<nil>", "<nil>"},
	{modelRefuses, "SET k v GET", "error ERR", "<nil>", "<nil>"},
	{modelRefuses, "SET k v KEEPTTL", "error ERR", `"OK"`, `"OK"`},
	{modelRefuses, "APPEND k v", "error ERR", "1", "1"},
	{modelRefuses, "HSET h a 1 b 2", "error ERR", "2", "2"},
	{modelRefuses, "HDEL h a b", "error ERR", "0", "0"},
	{modelRefuses, "ZADD z 1 a 2 b", "error ERR", "2", "2"},
	{modelRefuses, "ZADD z NX 1 a", "error ERR", "1", "1"},
	{modelRefuses, "ZREM z a b", "error ERR", "0", "0"},
	{modelRefuses, "ZRANGE z 0 -1 WITHSCORES", "error ERR", "[]interface {}{}", "[]interface {}{}"},
	{modelRefuses, "LPOP l 1", "error ERR", "<nil>", "<nil>"},
	{modelRefuses, "LREM l 1 a", "error ERR", "0", "0"},
	{modelRefuses, "PEXPIRE k 1 NX", "error ERR", "0", "0"},
	{modelRefuses, "PING m", "error ERR", `"m"`, `"m"`},
	{modelRefuses, "ZADD z inf a", "error ERR", "1", "1"},
	{wireLenient, "SET k +1; INCR k", "error ERR", "2", "error ERR"},
	{wireLenient, "SET k 01; INCR k", "error ERR", "2", "error ERR"},
	{wireLenient, "SET k v PX 01", "error ERR", `"OK"`, "error ERR"},
	{wireLenient, "PEXPIRE k 01", "error ERR", "0", "error ERR"},
	{wireLenient, "HINCRBY h f -0", "error ERR", "0", "error ERR"},
	{wireLenient, "LRANGE l +1 -1", "error ERR", "[]interface {}{}", "error ERR"},
	{wireLenient, "ZADD z nan a", "error ERR", "1", "error ERR"},
	{wireOverflow, "SET k v PX 9223372036854775807", "error ERR", `"OK"`, "error ERR"},
	{wireOverflow, "PEXPIRE k 9223372036854775807", "error ERR", "0", "error ERR"},
	{wireOverflow, "EXPIRE k -9223372036854775808", "error ERR", "0", "error ERR"},
	{wireOverflow, "HSET h f 1; HINCRBY h f 9223372036854775807", "error ERR", "-9223372036854775808", "error ERR"},
	{wireOverflow, "HSET h f -9223372036854775808; HINCRBY h f -1", "error ERR", "9223372036854775807", "error ERR"},
	{wireOrder, "SET k v; LINDEX k x", "error WRONGTYPE", "error ERR", "error WRONGTYPE"},
	{wireOrder, "LINDEX l x", "<nil>", "error ERR", "<nil>"},
	{"miniredis refuses an option given twice; Redis takes the last", "SET k v PX 1 PX 2", `"OK"`, "error ERR", `"OK"`},
}

// TestDeviations keeps the table true: a deviation that is gone must leave it, and one that changes must be thought about.
func TestDeviations(t *testing.T) {
	real := newServer(t, adaptertest.GoRedis)
	for _, d := range deviations {
		t.Run(d.commands, func(t *testing.T) {
			a := newAll(t, real)
			defer a.close()
			if d.model == d.real && d.wire == d.real {
				t.Errorf("no deviation")
			}
			for name, x := range map[string]struct {
				node node
				want string
			}{"model": {a.model, d.model}, "wire": {a.wire, d.wire}, "redis-server": {a.real, d.real}} {
				var got string
				for _, command := range strings.Split(d.commands, "; ") {
					got = said(x.node, x.node.call(strings.Fields(command)))
				}
				if got != x.want {
					t.Errorf("%s: %s, want %s: %s", name, got, x.want, d.why)
				}
			}
		})
	}
}

// The model takes for a counter what the library writes there. Lua takes more, which nobody writes.
func TestForeignCounters(t *testing.T) {
	real := newServer(t, adaptertest.GoRedis)
	a := newAll(t, real)
	defer a.close()
	for _, n := range []node{a.model, a.wire, a.real} {
		n.call([]string{"SET", driver.TokenKey("a"), "1.5"})
		want := driver.Behind
		if n == node(a.model) {
			want = driver.Failed
		}
		r, _ := n.ask(driver.Command{Op: driver.OpAcquire, Keys: []string{"a"}, Value: "v", TTL: time.Hour,
			Conditions: &driver.Conditions{Token: 1, CounterTTL: time.Hour}})
		if r.Outcome != want {
			t.Errorf("%T: %v, want %v", n, r.Outcome, want)
		}
	}
}

// Scores are compared by their value: Redis before 7.2 writes 17 digits, miniredis and Redis since then the fewest that
// tell the score from others, with an exponent where that is shorter. The model writes the fewest digits without one.
func TestScoresAreTheSameNumbers(t *testing.T) {
	real := newServer(t, adaptertest.GoRedis)
	for _, score := range []string{"0.1", "1700000000000", "-1e15", "0.000001", "123456789.987654321"} {
		a := newAll(t, real)
		var want float64
		if _, err := fmt.Sscan(score, &want); err != nil {
			t.Fatal(err)
		}
		for _, n := range []node{a.model, a.wire, a.real} {
			n.call([]string{"ZADD", "z", score, "m"})
			text, _ := n.call([]string{"ZSCORE", "z", "m"}).Value.(string)
			var got float64
			if _, err := fmt.Sscan(text, &got); err != nil || got != want {
				t.Errorf("%T: %s is %q", n, score, text)
			}
		}
		a.close()
	}
}

// redis-server looks for expired keys ten times a second also among those that nobody asks for. The simulated nodes do not,
// which shows only if their clock is stepped back afterwards: then a key that nobody asked for is there again.
func TestExpiredKeysComeBack(t *testing.T) {
	real := timedServer(t)
	for _, sweeps := range []bool{false, true} {
		a := newAll(t, real)
		a.call("SET", "a", "v", "PX", "10")
		a.advance(11 * time.Millisecond)
		if sweeps {
			real.sweep()
		}
		a.step(-time.Millisecond)
		for _, n := range []node{a.model, a.wire, a.real} {
			want := rediscmd.Reply{Value: int64(1)}
			if n == node(a.real) && sweeps {
				want.Value = int64(0)
			}
			if got := n.call([]string{"EXISTS", "a"}); got != want {
				t.Errorf("%T, sweeps %v: %+v, want %+v", n, sweeps, got, want)
			}
		}
		a.close()
	}
}

// A command that is wrong by its arguments looks at no key: one that has expired comes back as if nobody had asked for it.
func TestRefusedCommandsLookAtNothing(t *testing.T) {
	real := timedServer(t)
	for _, command := range []string{"SET a v PX 0", "SETEX a 0 v", "EXPIRE a soon", "INCRBY a much", "HSET a f",
		"LPOP a some", "LRANGE a 0 end", "ZADD a high m", "GET a b"} {
		a := newAll(t, real)
		a.call("SET", "a", "v", "PX", "10")
		a.advance(11 * time.Millisecond)
		a.call(strings.Fields(command)...) // which all refuse alike
		a.step(-time.Millisecond)
		a.call("EXISTS", "a") // as all see alike
		if got := a.model.call([]string{"EXISTS", "a"}); got.Value != int64(1) {
			t.Errorf("%s has looked at its key: %+v", command, got)
		}
		a.close()
	}
}

// A line that is full takes nobody, and who stands in it leaves as from any other.
func TestLineIsFull(t *testing.T) {
	real := newServer(t, adaptertest.GoRedis)
	for _, c := range []struct{ bytes, want int }{
		{driver.MostInLine - 1, driver.MostInLine - 1 + len("a ")},
		{driver.MostInLine, driver.MostInLine},
	} {
		a := newAll(t, real)
		line := " b " + strings.Repeat("z", c.bytes-len(" b  ")) + " "
		acquire := driver.Command{Op: driver.OpAcquire, Keys: []string{"a"}, Value: "v", TTL: time.Hour, Line: &driver.Line{Waiter: "a"}}
		release := driver.Command{Op: driver.OpRelease, Keys: []string{"a"}, Value: "v", Line: &driver.Line{Waiter: "b"}}
		for _, n := range []node{a.model, a.wire, a.real} {
			n.call([]string{"SET", "a", "w"})
			n.call([]string{"SET", driver.LineKey("a"), line})
			for _, step := range []struct {
				driver.Command
				want int
			}{{acquire, c.want}, {release, c.want - len("b ")}} {
				n.ask(step.Command)
				text, _ := n.call([]string{"GET", driver.LineKey("a")}).Value.(string)
				if len(text) != step.want {
					t.Errorf("%T: the line is %d bytes long after %v, want %d", n, len(text), step.Op, step.want)
				}
			}
		}
		a.close()
	}
}
