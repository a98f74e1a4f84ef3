//go:build linux

package conformance

import (
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/redlocktest"
	"redlocksim/sim/kernel"
)

// latency is how long the node of redlocktest takes to answer: a command is sent so much earlier than it is carried out.
const latency = time.Microsecond

// memory is a node of redlocktest, in a bubble. It knows the library's commands only, so that nothing else is drawn for it.
type memory struct {
	nodes       redlocktest.Nodes
	now         time.Time // by the sequence; the bubble's clock is up to a latency ahead after a command
	run         string
	subscribers map[string][]*subscriber
}

type subscriber struct {
	heard []string
	stop  func()
}

func newMemory(t *testing.T) *memory {
	m := &memory{nodes: redlocktest.New(t, 1), now: time.Unix(0, int64(kernel.Epoch)), subscribers: map[string][]*subscriber{}}
	time.Sleep(time.Until(m.now))
	m.run = m.findRun()
	return m
}

func (m *memory) pass(d time.Duration) { m.now = m.now.Add(d) }

// ask has the command carried out now.
func (m *memory) ask(c driver.Command) (reply driver.Reply, trips int) {
	wait := time.Until(m.now.Add(-latency))
	if wait < 0 {
		panic("less than two latencies passed since the last command")
	}
	time.Sleep(wait)
	return m.send(c), 0
}

func (m *memory) send(c driver.Command) (reply driver.Reply) {
	answered := 0
	c.Done = func(_ *driver.Command, r driver.Reply) { reply = r; answered++ }
	m.nodes[0].Do([]*driver.Command{&c})
	time.Sleep(latency)
	synctest.Wait()
	if answered != 1 {
		panic(fmt.Sprintf("answered %d times", answered))
	}
	return reply
}

// findRun asks for the run id as PrepareGuard does.
func (m *memory) findRun() string {
	return m.send(driver.Command{Op: driver.OpPrepare, Keys: []string{driver.GuardKey}, Conditions: &driver.Conditions{MaxTTL: maxTTL}}).Record
}

func (m *memory) runID() string { return m.run }

func (m *memory) restart() {
	m.nodes.Forget(0)
	run := m.findRun()
	if run == m.run {
		panic("the run id is that of the run before")
	}
	m.run = run
	for channel := range m.subscribers {
		for len(m.subscribers[channel]) > 0 {
			m.unsubscribe(channel)
		}
	}
}

func (m *memory) subscribe(channel string) {
	s := &subscriber{}
	s.stop = m.nodes[0].(driver.Listener).Listen(channel, func(message string) { s.heard = append(s.heard, message) })
	m.subscribers[channel] = append(m.subscribers[channel], s)
}

func (m *memory) unsubscribe(channel string) {
	m.subscribers[channel][0].stop()
	m.subscribers[channel] = m.subscribers[channel][1:]
}

// call knows PUBLISH, which marks the end of what subscribers have heard of the releases before.
func (m *memory) call(args []string) rediscmd.Reply {
	if args[0] != "PUBLISH" {
		panic(fmt.Sprint(args, " is no command of a node of redlocktest"))
	}
	for _, s := range m.subscribers[args[1]] {
		s.heard = append(s.heard, args[2])
	}
	return rediscmd.Reply{Value: int64(len(m.subscribers[args[1]]))}
}

func (m *memory) script(args []string) rediscmd.Reply { return m.call(args) }

func (m *memory) heard(channel, _ string) (all [][]string) {
	for _, s := range m.subscribers[channel] {
		all = append(all, s.heard)
		s.heard = nil
	}
	return all
}

// Round trips are those of scripts that a server has yet to be sent.
var ofTrips = regexp.MustCompile(` trips=\d+`)

// replay gives the node of redlocktest what the other nodes were given, and says where it differs.
func replay(t *testing.T, steps []step) (difference string) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		for _, s := range steps {
			if s.do == nil {
				m.pass(s.passes)
				continue
			}
			if got, want := ofTrips.ReplaceAllString(s.do(m), ""), ofTrips.ReplaceAllString(s.want, ""); got != want {
				difference = fmt.Sprintf("%s\nmodel: %s\nredlocktest: %s", s.what, want, got)
				return
			}
		}
	})
	return difference
}

// operations is a random sequence of the library's commands, of restarts, and of messages.
func (a *all) operations(t *rapid.T) {
	subscribed := map[string]int{}
	subscribe := func(channel string) {
		subscribed[channel]++
		a.each("SUBSCRIBE "+channel, func(n node) string { n.subscribe(channel); return "" })
	}
	ask := func(c driver.Command) string {
		d := 2 * latency
		if oneIn(t, 3) {
			d = max(d, a.edge(t))
		}
		a.advance(d)
		return a.ask(c)
	}
	c := client{watched: "nothing", fenced: rapid.Bool().Draw(t, "fenced"), guarded: rapid.Bool().Draw(t, "guarded")}
	for range rapid.IntRange(1, 40).Draw(t, "length") {
		switch channel := pick(t, channels...); rapid.IntRange(1, 20).Draw(t, "step") {
		case 1:
			clear(subscribed)
			a.advance(2 * latency)
			a.restart()
		case 2, 3:
			subscribe(channel)
		case 4:
			if subscribed[channel] > 0 {
				subscribed[channel]--
				a.each("UNSUBSCRIBE "+channel, func(n node) string { n.unsubscribe(channel); return "" })
			}
		case 5, 6:
			a.publish(channel)
		default:
			if oneIn(t, 6) {
				c.watched = "nothing"
			}
			if record := ask(c.operation(t, true)); record != "" {
				c.watched = record
			}
		}
	}
	for _, channel := range channels {
		subscribe(channel)
	}
	for _, key := range keys {
		ask(driver.Command{Op: driver.OpAcquire, Keys: []string{key}, Value: "v", TTL: maxTTL})
	}
	for _, value := range []string{"v", "w"} {
		ask(driver.Command{Op: driver.OpRelease, Keys: keys, Value: value, Line: &driver.Line{Turn: time.Hour}})
	}
	for _, channel := range channels {
		a.publish(channel)
	}
	// Who holds each key, and what its counter is.
	for _, key := range keys {
		for _, value := range []string{"v", "w"} {
			ask(driver.Command{Op: driver.OpRelease, Keys: []string{key}, Value: value})
		}
		ask(driver.Command{Op: driver.OpAcquire, Keys: []string{key}, Value: "v", TTL: maxTTL,
			Conditions: &driver.Conditions{Token: 1, CounterTTL: maxTTL}})
	}
}

// TestMemoryNodes compares the nodes of redlocktest with the simulated ones.
func TestMemoryNodes(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		a := newAll(t, nil)
		defer a.close()
		a.operations(t)
		if difference := replay(outer, a.steps); difference != "" {
			t.Fatalf("%s\n\n%s", difference, &a.log)
		}
	})
}
