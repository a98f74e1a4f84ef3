//go:build linux

package live

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// overGrants finds the leases that were over when a lock program told of them, of those on a resource the first.
func overGrants(h history.History) (found []checker.Finding) {
	for i := range h {
		e := &h[i]
		text := rules.OverGrant(e)
		if text == "" {
			continue
		}
		found = counted(found, checker.Finding{Kind: checker.Contract, Resource: e.Resource, From: checker.Instant(e.Time),
			To: checker.Instant(e.Time), FromSeq: e.Seq, ToSeq: e.Seq, Seqs: []int{e.Seq}, Text: text + "."})
	}
	return found
}

// outcome is what the run was, once it is over.
func (r *run) outcome() (*scenarios.Outcome, error) {
	entries, err := r.withTransactions()
	if err != nil {
		return nil, err
	}
	h := merge(entries, r.start, r.speed, r.scenario.Duration)
	hash := new(history.Hasher)
	for i := range h {
		hash.Add(&h[i])
	}
	out := &scenarios.Outcome{History: h, HistoryHash: hash.Sum()}
	found, requests := r.busyWaits(h)
	out.Monitored, out.Watched = found, checker.Watched{"pauses": requests}
	out.Monitored = append(out.Monitored, overGrants(h)...)
	r.armed.Tell(out)
	for _, s := range r.servers {
		if !s.IsUp() || !s.Kind.IsRedis {
			continue
		}
		s.Unfreeze()
		records, err := s.Dump()
		if err != nil {
			return nil, err
		}
		for _, name := range r.scenario.Resources {
			if slices.ContainsFunc(records, func(k redis.Record) bool { return k.Key == name && k.ExpiresAt == 0 }) {
				out.Leaks = append(out.Leaks, scenarios.Leak{Key: name, Node: s.Name})
			}
		}
	}
	return out, nil
}
