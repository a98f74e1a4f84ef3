//go:build linux

package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
)

// TestDeadlines looks at a key of 10 ms at the moments about its deadline. It is there while the node's clock reads the
// deadline or less, and gone when it reads a millisecond more (keyIsExpired in db.c of Redis); fractions of a millisecond
// do not count. All that a command can show of that is given here once more, in figures.
func TestDeadlines(t *testing.T) {
	real := timedServer(t)
	const ttl = 10 * time.Millisecond
	acquire := driver.Command{Op: driver.OpAcquire, Keys: []string{"a"}, Value: "v", TTL: ttl}
	fenced := acquire
	fenced.Conditions = &driver.Conditions{Token: 1, CounterTTL: ttl}
	extend := acquire
	extend.Op = driver.OpExtend
	set := map[string]func(a *all){
		"SET PX":         func(a *all) { a.call("SET", "a", "v", "PX", "10") },
		"SET NX PX":      func(a *all) { a.call("SET", "a", "v", "NX", "PX", "10") },
		"PEXPIRE":        func(a *all) { a.call("SET", "a", "v"); a.call("PEXPIRE", "a", "10") },
		"script":         func(a *all) { a.script("SET", "a", "v", "PX", "10") },
		"acquire":        func(a *all) { a.ask(acquire) },
		"fenced acquire": func(a *all) { a.ask(fenced) },
		"extend":         func(a *all) { a.call("SET", "a", "v", "PX", "3"); a.ask(extend) },
		"EXPIRE":         func(a *all) { a.call("SET", "a", "v"); a.call("EXPIRE", "a", "1"); a.advance(990 * time.Millisecond) },
		"in between":     func(a *all) { a.advance(999_999); a.call("SET", "a", "v", "PX", "10"); a.step(-999_999) },
	}
	for name, set := range set {
		for _, at := range []struct {
			after time.Duration
			left  int // milliseconds, −2 for none
		}{{0, 10}, {1, 10}, {time.Millisecond - 1, 10}, {time.Millisecond, 9}, {9 * time.Millisecond, 1}, {10*time.Millisecond - 1, 1},
			{10 * time.Millisecond, 0}, {11*time.Millisecond - 1, 0}, {11 * time.Millisecond, -2}, {12 * time.Millisecond, -2}} {
			t.Run(fmt.Sprint(name, "/", at.after), func(t *testing.T) {
				there := at.left != -2
				reply := func(ifThere, ifGone string) string {
					if there {
						return ifThere
					}
					return ifGone
				}
				for _, look := range []struct {
					words []string
					want  string
				}{
					{[]string{"PTTL", "a"}, fmt.Sprint(at.left)},
					{[]string{"EXISTS", "a"}, reply("1", "0")},
					{[]string{"GET", "a"}, reply(`"v"`, "<nil>")},
					{[]string{"SET", "a", "w", "NX", "PX", "5"}, reply("<nil>", `"OK"`)},
					{[]string{"SETNX", "a", "w"}, reply("0", "1")},
					{[]string{"DEL", "a"}, reply("1", "0")},
					{[]string{"PEXPIRE", "a", "5"}, reply("1", "0")},
					{[]string{"INCR", "a"}, reply("error ERR", "1")},
					{[]string{"HGET", "a", "f"}, reply("error WRONGTYPE", "<nil>")},
					{[]string{"RPUSH", "a", "x"}, reply("error WRONGTYPE", "1")},
				} {
					a := newAll(t, real)
					set(a)
					a.advance(at.after)
					a.each(fmt.Sprint(look.words), func(n node) string {
						got := said(n, n.call(look.words))
						if got != look.want {
							t.Errorf("%T: %v: %s, want %s", n, look.words, got, look.want)
						}
						return got
					})
					a.call("PTTL", "a")
					a.call("EXISTS", "a")
					a.close()
				}
				for _, c := range []struct {
					op           driver.Op
					value        string
					there, ended driver.Outcome
				}{
					{driver.OpAcquire, "w", driver.Declined, driver.Accepted},
					{driver.OpExtend, "v", driver.Accepted, driver.Declined},
					{driver.OpRelease, "v", driver.Accepted, driver.Declined},
				} {
					want := c.ended
					if there {
						want = c.there
					}
					a := newAll(t, real)
					set(a)
					a.advance(at.after)
					a.each(c.op.String(), func(n node) string {
						r, _ := n.ask(driver.Command{Op: c.op, Keys: []string{"a"}, Value: c.value, TTL: time.Millisecond})
						if r.Outcome != want {
							t.Errorf("%T: %v: %v, want %v", n, c.op, r.Outcome, want)
						}
						return r.Outcome.String()
					})
					a.call("PTTL", "a")
					a.call("EXISTS", "a")
					a.close()
				}
			})
		}
	}
}

// TestDeadlineInThePast: a key that is given a deadline no later than now is deleted at once, and not only when the clock
// reads a millisecond more (checkAlreadyExpired in expire.c of Redis). SET refuses such a deadline.
func TestDeadlineInThePast(t *testing.T) {
	real := newServer(t, adaptertest.GoRedis)
	for _, test := range []struct{ command, reply, exists string }{
		{"PEXPIRE a 0", "1", "0"},
		{"PEXPIRE a -1", "1", "0"},
		{"EXPIRE a 0", "1", "0"},
		{"EXPIRE a -1000000", "1", "0"},
		{"PEXPIRE a 1000000", "1", "1"},
		{"SET a w PX 0", "error ERR", "1"},
		{"SET a w EX -1", "error ERR", "1"},
	} {
		a := newAll(t, real)
		a.call("SET", "a", "v")
		a.each(test.command, func(n node) string {
			reply := said(n, n.call(strings.Fields(test.command)))
			exists := said(n, n.call([]string{"EXISTS", "a"}))
			if reply != test.reply || exists != test.exists {
				t.Errorf("%T: %s: %s, and %s keys", n, test.command, reply, exists)
			}
			return reply
		})
		a.close()
	}
}
