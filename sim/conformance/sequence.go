//go:build linux

package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// all is the same node three times, or twice without a redis-server.
type all struct {
	t           failer
	model, wire *simulated
	real        *server // nil for none
	log         strings.Builder
}

// failer is what a test of testing and one of rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// newAll makes new nodes, of which real is one that is used again.
func newAll(t failer, real *server) *all {
	if real != nil {
		return newAllOf(t, real.software, redis.NoPersistence, real)
	}
	return newAllOf(t, redis.Redis70, redis.NoPersistence, nil)
}

// newAllOf makes those that run a certain server, which keeps nothing when there is a real one.
func newAllOf(t failer, of redis.Software, p redis.Persistence, real *server) *all {
	a := &all{t: t, model: newSimulated(model.New(), of, p), wire: newSimulated(wire.New(), of, p), real: real}
	if real != nil {
		a.setClock()
		real.forget()
	}
	return a
}

func (a *all) close() {
	a.model.world.Close()
	a.wire.world.Close()
}

// timed says whether all wall clocks are in the test's hands.
func (a *all) timed() bool { return a.real == nil || a.real.clock != nil }

// setClock gives the server the wall clock of the simulated nodes.
func (a *all) setClock() {
	if a.real != nil && a.real.clock != nil {
		a.real.clock.StandAt(time.Unix(0, int64(a.model.now())))
	}
}

// advance lets time pass, and step moves the nodes' wall clocks.
func (a *all) advance(d time.Duration) {
	fmt.Fprintf(&a.log, "%v pass\n", d)
	a.model.pass(d)
	a.wire.pass(d)
	a.setClock()
}

func (a *all) step(d time.Duration) {
	fmt.Fprintf(&a.log, "wall clocks step by %v\n", d)
	a.model.server().Clock().Step(d)
	a.wire.server().Clock().Step(d)
	a.setClock()
}

// each does the same to all nodes and fails unless it comes out the same.
func (a *all) each(what string, do func(n node) string) {
	a.t.Helper()
	want := do(a.model)
	fmt.Fprintf(&a.log, "%s: %s\n", what, want)
	a.same(what, "model", want, "wire", do(a.wire))
	if a.real != nil {
		a.same(what, "model", want, "redis-server", do(a.real))
	}
}

func (a *all) same(what, one, got, other, want string) {
	a.t.Helper()
	if got != want {
		a.t.Fatalf("%s\n%s: %s\n%s: %s\n\n%s", what, one, got, other, want, &a.log)
	}
}

func (a *all) call(words ...string) {
	a.t.Helper()
	a.each(fmt.Sprintf("%q", words), func(n node) string { return said(n, n.call(told(n, words))) })
}

func (a *all) script(words ...string) {
	a.t.Helper()
	a.each(fmt.Sprintf("script %q", words), func(n node) string { return said(n, n.script(told(n, words))) })
}

func (a *all) ask(c driver.Command) (record string) {
	a.t.Helper()
	a.each(describe(c), func(n node) string {
		own := c
		if c.Conditions != nil {
			conditions := *c.Conditions
			conditions.Watched = told(n, []string{conditions.Watched})[0]
			own.Conditions = &conditions
		}
		r, trips := n.ask(own)
		record = strings.ReplaceAll(r.Record, n.runID(), thisRun)
		return decided(n, r, trips)
	})
	return record
}

// publish compares what subscribers have heard since the last time as well.
func (a *all) publish(channel string) {
	a.t.Helper()
	a.each("PUBLISH "+channel, func(n node) string {
		receivers := n.call([]string{"PUBLISH", channel, "message"})
		return fmt.Sprintf("%s, heard %q", said(n, receivers), n.heard(channel, "message"))
	})
}

func (a *all) restart() {
	a.each("restart", func(n node) string { n.restart(); return "restarted" })
}

// everything compares all that the nodes keep.
func (a *all) everything() {
	a.t.Helper()
	a.same("dump", "model", fmt.Sprintf("%#v", a.model.server().Dump()), "wire", fmt.Sprintf("%#v", a.wire.server().Dump()))
	all := append([]string{driver.GuardKey}, keys...)
	for _, k := range keys {
		all = append(all, driver.TokenKey(k), driver.LineKey(k), driver.TurnKey(k))
	}
	for _, k := range all {
		a.call("EXISTS", k)
		a.call("GET", k)
		a.call("LRANGE", k, "0", "-1")
		a.call("ZRANGE", k, "0", "-1")
		for _, f := range []string{"f", "g", "h", ""} {
			a.call("HGET", k, f)
			a.call("ZSCORE", k, f)
		}
		if a.timed() {
			a.call("PTTL", k)
		}
	}
}

// edge is a moment about the deadline of one of the keys, or the end of the quarantine, from now; if there is none, any.
func (a *all) edge(t *rapid.T) time.Duration {
	var deadlines []int64
	for _, r := range a.model.server().Dump() {
		if r.ExpiresAt != 0 {
			deadlines = append(deadlines, r.ExpiresAt)
		}
		if words := strings.Fields(r.Value); r.Key == driver.GuardKey && len(words) == 3 {
			if since, err := strconv.ParseInt(words[1], 10, 64); err == nil && since != 0 {
				deadlines = append(deadlines, since+maxTTL.Milliseconds())
			}
		}
	}
	if len(deadlines) == 0 {
		return rapid.SampledFrom([]time.Duration{0, 1, time.Millisecond - 1, time.Millisecond, 5 * time.Millisecond}).Draw(t, "moment")
	}
	at := kernel.Wall(rapid.SampledFrom(deadlines).Draw(t, "deadline") * int64(time.Millisecond))
	return time.Duration(at-a.model.now()) + rapid.SampledFrom([]time.Duration{-time.Millisecond, -1, 0, 1, time.Millisecond - 1, time.Millisecond}).Draw(t, "edge")
}

// sequence is a random one.
func (a *all) sequence(t *rapid.T) {
	counts := map[string]int{}
	subscribe := func(channel string) {
		counts[channel]++
		a.each("SUBSCRIBE "+channel, func(n node) string { n.subscribe(channel); return "" })
	}
	if oneIn(t, 3) {
		subscribe(pick(t, channels...))
	}
	c := client{watched: "nothing", fenced: rapid.Bool().Draw(t, "fenced"), guarded: rapid.Bool().Draw(t, "guarded")}
	// Locks whose keys hardly anybody else touches live longer.
	plain := rapid.SampledFrom([]int{4, 25, 52, 70}).Draw(t, "plain commands in 100 steps")
	for range rapid.IntRange(1, 40).Draw(t, "length") {
		switch n := rapid.IntRange(1, 100).Draw(t, "step"); {
		case n <= plain*5/6:
			a.call(command(t, a.timed())...)
		case n <= plain:
			a.script(command(t, a.timed())...)
		case n <= 75:
			if record := a.ask(c.operation(t, a.timed())); record != "" {
				c.watched = record
			}
		case n <= 78:
			subscribe(pick(t, channels...))
		case n <= 80:
			channel := pick(t, channels...)
			if counts[channel] > 0 {
				counts[channel]--
				a.each("UNSUBSCRIBE "+channel, func(n node) string { n.unsubscribe(channel); return "" })
			}
		case n <= 83:
			a.publish(pick(t, channels...))
		case n == 84:
			clear(counts)
			a.restart()
		case !a.timed():
		case n <= 89:
			a.step(a.edge(t))
		case n <= 92:
			a.step(time.Duration(rapid.Int64Range(-int64(30*time.Millisecond), int64(30*time.Millisecond)).Draw(t, "step by")))
		default:
			if d := a.edge(t); d >= 0 {
				a.advance(d)
			}
		}
	}
	for _, channel := range channels {
		a.publish(channel)
	}
	a.everything()
}

// AgainstServer compares random sequences with a redis-server behind an adapter. Without a C compiler nothing expires in it.
func AgainstServer(t *testing.T, a adaptertest.Adapter) {
	real := newServer(t, a)
	if real.clock == nil {
		noClock(t.Logf)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := newAll(t, real)
		defer a.close()
		a.sequence(t)
	})
}
