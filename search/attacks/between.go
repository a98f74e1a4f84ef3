package attacks

import (
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

// Between is what a call of the lock sends to a node one after the other, the second once it has the answer to the first: a
// client may be paused between the two, and no attack pauses it there. Nil if each call sends a node no more than one request.
// What a first call does to connect, and to teach a node its scripts, does not count, and of calls of one lock only those that
// are asked about. extends says whether the lock can be extended. The error is an internal one.
func Between(s *Settings, calls []history.Func, extends bool, o scenarios.Options) (pair []string, err error) {
	b := newScene(s, holder)
	// Slow messages would have calls fail, and what is sent to clean up is no part of them.
	b.Network = scenarios.Network{}
	wait := scenarios.Step{Kind: scenarios.SleepStep, For: b.Lock.TTL / 4} // so that calls do not touch
	program := []scenarios.Step{b.takes(), wait}
	if extends {
		program = append(program, scenarios.Step{Kind: scenarios.ExtendStep, For: b.Lock.TTL}, wait)
	}
	program = append(program, step(scenarios.UnlockStep), wait)
	if s.guarded() {
		b.client(faults.Trigger{}, holder, step(scenarios.PrepareStep))
	}
	for i := range 2 {
		b.client(faults.Trigger{At: time.Duration(i+1) * (b.Lock.TTL + time.Minute)}, holder, program...)
	}
	var all []message
	o.Unwatched, o.Unhashed, o.Watch = true, true, func(w *sim.World) {
		note := func(x *network.Exchange, isReply bool) {
			all = append(all, message{x, isReply, w.Kernel.Now()})
		}
		trace.On(w.Events, func(e network.Sent) {
			if e.Kind == network.RequestMessage && e.From().Name() == holder {
				note(e.Exchange, false)
			}
		})
		trace.On(w.Events, func(e network.Ended) {
			if e.Kind == network.ReplyMessage && e.Fate == network.Arrived && e.From().Name() == holder {
				note(e.Exchange, true)
			}
		})
	}
	r, err := scenarios.Run(b.Scenario, o)
	if err != nil {
		return nil, err
	}
	known := kernel.True(2 * (b.Lock.TTL + time.Minute))
	called := map[int]kernel.True{}
	for i := range r.History {
		e := &r.History[i]
		at := kernel.True(e.Time)
		switch {
		case e.Process != holder || at < known:
		case e.Kind == history.Call:
			called[e.Op] = at
		case e.Kind == history.Return && pair == nil && slices.Contains(calls, e.Func):
			pair = oneAfterTheOther(all, called[e.Op], at)
		}
	}
	return pair, nil
}

// newScene starts from the world of the settings, unchanged.
func newScene(s *Settings, clients ...string) *builder {
	b := &builder{Scenario: s.Settings(), settings: s}
	b.Clients, b.Duration = clients, 8*s.Lock.TTL+4*time.Minute
	return b
}

// aside are requests that have nothing to do with a lock.
var aside = []string{"connect", "close", "push", "subscribe", "unsubscribe", "HELLO", "AUTH", "CLIENT", "SELECT", "PING"}

// message is a request of the holder, when it was sent, or the reply to one, when it arrived.
type message struct {
	*network.Exchange
	isReply bool
	at      kernel.True
}

// oneAfterTheOther are the purposes of two requests to the same node within a stretch of time, of which the second waits for
// the answer to the first. The messages are in the order of their times.
func oneAfterTheOther(all []message, from, to kernel.True) []string {
	answered := map[*network.Link]string{} // the purpose of what a node has answered
	asked := map[*network.Exchange]string{}
	for _, m := range all {
		purpose := ""
		if p, ok := m.Client().(network.Purposeful); ok {
			purpose = p.Purpose()
		}
		first, _, _ := strings.Cut(purpose, ",")
		switch before, has := answered[m.Link()]; {
		case slices.Contains(aside, first):
		case m.isReply && asked[m.Exchange] != "":
			answered[m.Link()] = asked[m.Exchange]
		case m.isReply || m.at < from || m.at > to:
		case has:
			return []string{before, purpose}
		default:
			asked[m.Exchange] = purpose
		}
	}
	return nil
}
