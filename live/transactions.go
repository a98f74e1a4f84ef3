//go:build linux

package live

import (
	"encoding/json"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/live/internal/server"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// transactionEffects are the effects that clients had in transactions. A read has it when it returns, since the row is locked.
// A write has it at the commit, with which the client's belief ends; one that was not committed has none.
func (r *run) transactionEffects() ([]entry, error) {
	if protocols.Of[protocols.DBRowSettings](r.scenario.Lock).Effects != protocols.InTransaction {
		return nil, nil
	}
	var all []entry
	committed, unasked := map[int]bool{}, map[string]bool{}
	for _, s := range r.servers {
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
			committed[entries[0].event.Op] = true
			all = append(all, entries...)
		}
	}
	for _, x := range r.entries {
		e := x.event
		switch {
		case e == nil || e.Node == "" || r.serverNamed(e.Node) == nil:
		case e.Kind == history.Return && e.Func == history.Read && e.Outcome == history.OK:
			read := *e
			read.Kind = history.Effect
			all = append(all, entry{at: x.at, process: x.process, event: &read})
		case e.Kind == history.Call && e.Func == history.Write && !committed[e.Op] && !unasked[e.Node]:
			lost := *e
			lost.Kind, lost.Outcome = history.Effect, history.Failed
			all = append(all, entry{at: r.entries[len(r.entries)-1].at, process: x.process, event: &lost})
		}
	}
	return all, nil
}

// ofCommit is a write that was committed, and the end of the belief in its lock.
func ofCommit(n server.Committed) ([]entry, error) {
	// The time since then is a difference of wall clocks, which gives a time that Go's monotonic clock can have read.
	at := faketime.NewAnchor().MachineTime(time.Now().Add(-time.Since(n.At)))
	effect := &history.Event{}
	if err := json.Unmarshal([]byte(n.Note), effect); err != nil {
		return nil, err
	}
	over := &history.Event{Kind: history.Expire, Process: effect.Process, Resource: effect.Resource, Grant: effect.Grant, Detail: "its transaction is committed"}
	end := &client.Belief{Grant: effect.Grant, Resource: effect.Resource}
	return []entry{
		{at: at, process: effect.Process, event: effect},
		{at: at, process: effect.Process, event: over},
		{at: at, process: effect.Process, belief: end},
	}, nil
}

// withTransactions are the entries of the record with those effects, which come first at equal times.
func (r *run) withTransactions() ([]entry, error) {
	effects, err := r.transactionEffects()
	return slices.Concat(effects, r.entries), err
}
