//go:build linux

package live

import (
	"encoding/json"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// withTransactions are the entries of the record and, before those of equal times, the effects that clients had in
// transactions. A read has it when it returns, since the row is locked. A write has it at the commit, with which the client's
// belief ends; one that was not committed has none.
func (r *run) withTransactions() ([]entry, error) {
	if protocols.Of[protocols.DBRowSettings](r.scenario.Lock).Effects != protocols.InTransaction {
		return r.entries, nil
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
			e := &history.Event{}
			if err := json.Unmarshal([]byte(n.Note), e); err != nil {
				return nil, err
			}
			committed[e.Op] = true
			// The time since then is a difference of wall clocks, which gives a time that Go's monotonic clock can have read.
			at := faketime.NewAnchor().MachineTime(time.Now().Add(-time.Since(n.At)))
			all = append(all, entry{at: at, process: e.Process, event: e},
				entry{at: at, process: e.Process, event: &history.Event{Kind: history.Expire, Process: e.Process, Resource: e.Resource,
					Grant: e.Grant, Detail: "its transaction is committed"}},
				entry{at: at, process: e.Process, belief: &client.Belief{Grant: e.Grant, Resource: e.Resource}})
		}
	}
	for _, x := range r.entries {
		if x.event == nil || x.event.Node == "" || r.serverNamed(x.event.Node) == nil {
			continue
		}
		e, at := *x.event, x.at
		switch {
		case e.Kind == history.Return && e.Func == history.Read && e.Outcome == history.OK:
		case e.Kind == history.Call && e.Func == history.Write && !committed[e.Op] && !unasked[e.Node]:
			at, e.Outcome = r.entries[len(r.entries)-1].at, history.Failed
		default:
			continue
		}
		e.Kind = history.Effect
		all = append(all, entry{at: at, process: x.process, event: &e})
	}
	return append(all, r.entries...), nil
}
