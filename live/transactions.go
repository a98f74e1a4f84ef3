//go:build linux

package live

import (
	"encoding/json"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/server"
	"redlocksim/live/internal/testbed"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// transactionEffects are the effects that clients had in transactions. A read has it when it returns, since the row is locked.
// A write has it at the commit, with which the client's belief ends; one that was not committed has none.
func (r *run) transactionEffects() ([]testbed.Entry, error) {
	if protocols.Of[protocols.DBRowSettings](r.scenario.Lock).Effects != protocols.InTransaction {
		return nil, nil
	}
	var all []testbed.Entry
	committed, unasked := map[int]bool{}, map[string]bool{}
	for _, s := range r.Servers {
		if !s.IsUp() {
			unasked[s.Name] = true
			continue
		}
		s.Unfreeze()
		notes, err := s.Notes()
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			entries, err := ofCommit(n)
			if err != nil {
				return nil, err
			}
			committed[entries[0].Event.Op] = true
			all = append(all, entries...)
		}
	}
	for _, x := range r.Entries {
		e := x.Event
		switch {
		case e == nil || e.Node == "" || r.ServerNamed(e.Node) == nil:
		case e.Kind == history.Return && e.Func == history.Read && e.Outcome == history.OK:
			read := *e
			read.Kind = history.Effect
			all = append(all, testbed.Entry{At: x.At, Process: x.Process, Event: &read})
		case e.Kind == history.Call && e.Func == history.Write && !committed[e.Op] && !unasked[e.Node]:
			lost := *e
			lost.Kind, lost.Outcome = history.Effect, history.Failed
			all = append(all, testbed.Entry{At: r.Entries[len(r.Entries)-1].At, Process: x.Process, Event: &lost})
		}
	}
	return all, nil
}

// ofCommit is a write that was committed, and the end of the belief in its lock.
func ofCommit(n server.Committed) ([]testbed.Entry, error) {
	// The time since then is a difference of wall clocks, which gives a time that Go's monotonic clock can have read.
	at := faketime.NewAnchor().MachineTime(time.Now().Add(-time.Since(n.At)))
	effect := &history.Event{}
	if err := json.Unmarshal([]byte(n.Note), effect); err != nil {
		return nil, err
	}
	over := &history.Event{Kind: history.Expire, Process: effect.Process, Resource: effect.Resource, Grant: effect.Grant, Detail: "its transaction is committed"}
	end := &messages.Belief{Grant: effect.Grant, Resource: effect.Resource}
	return []testbed.Entry{
		{At: at, Process: effect.Process, Event: effect},
		{At: at, Process: effect.Process, Event: over},
		{At: at, Process: effect.Process, Belief: end},
	}, nil
}

// withTransactions are the entries of the record with those effects, which come first at equal times.
func (r *run) withTransactions() ([]testbed.Entry, error) {
	effects, err := r.transactionEffects()
	return slices.Concat(effects, r.Entries), err
}
