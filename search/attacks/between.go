package attacks

import (
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/recording"
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
	o.Record, o.Unwatched, o.Unhashed = true, true, true
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
			pair = oneAfterTheOther(r.Recording.Messages, called[e.Op], at)
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

// oneAfterTheOther are the purposes of two requests to the same node within a stretch of time, of which the second waits for
// the answer to the first.
func oneAfterTheOther(all []recording.Message, from, to kernel.True) []string {
	answered := map[string]string{} // the purpose of what a node has answered
	asked := map[int]string{}
	type moment struct {
		at      kernel.True
		isReply bool
		*recording.Message
	}
	var moments []moment
	for i := range all {
		m := &all[i]
		purpose, _, _ := strings.Cut(m.Purpose, ",")
		if slices.Contains(aside, purpose) || m.Sent < from || m.Sent > to {
			continue
		}
		switch {
		case m.Kind == network.RequestMessage && m.From == holder:
			moments = append(moments, moment{m.Sent, false, m})
		case m.Kind == network.ReplyMessage && m.To == holder && m.Fate == network.Arrived:
			moments = append(moments, moment{m.Ended, true, m})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	for _, m := range moments {
		switch first, has := answered[m.To]; {
		case m.isReply && asked[m.Exchange] != "":
			answered[m.From] = asked[m.Exchange]
		case m.isReply:
		case has:
			return []string{first, m.Purpose}
		default:
			asked[m.Exchange] = m.Purpose
		}
	}
	return nil
}
