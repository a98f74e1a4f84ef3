package random

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/search/experiment"
)

const (
	// maxNearMisses is how many near misses are kept for mutation.
	maxNearMisses = 32
	// maxSiblings bounds how many of them were drawn from the same seed.
	maxSiblings = 4
)

// NearMiss is a run in which the lock only just held.
type NearMiss struct {
	Candidate experiment.Candidate `json:"candidate"`
	// Client is the holder whose lease expired at Expiry, and Free is when a quorum was, or would have been, free. Both are
	// true times.
	Client string        `json:"client"`
	Expiry time.Duration `json:"expiry_ns"`
	Free   time.Duration `json:"free_ns"`
}

// Slack is the true time that was left; negative if a quorum was free too early, and nobody asked.
func (e NearMiss) Slack() time.Duration { return e.Free - e.Expiry }

// mutated is a mutation of a near miss: the nearer the miss, the more often.
func (x *explorer) mutated(c faults.Choices, seed uint64) experiment.Candidate {
	parent := x.Pool[c.For("parent", 0).Below(1+c.For("among", 0).Below(int64(len(x.Pool))))]
	m := experiment.Mutation{Seed: seed}
	if parent.Slack() < 0 && c.For("ask", 0).Below(2) == 0 {
		m.Acquire = x.acquire(c, parent)
	}
	return parent.Candidate.With(m)
}

// acquire has another client ask for the lock when it could be granted too early.
func (x *explorer) acquire(c faults.Choices, parent NearMiss) *experiment.Acquire {
	clients := slices.DeleteFunc(parent.Candidate.Scenario(x.space).Clients, func(name string) bool { return name == parent.Client })
	return &experiment.Acquire{
		Client: faults.OneOf(c.For("who", 0), clients...),
		At:     parent.Free + time.Duration(c.For("at", 0).Below(int64(-parent.Slack()))),
	}
}

// narrowest are the nearest misses so far: runs without a violation, and within the budget unless the search goes beyond it.
func (x *explorer) narrowest(trials []trial) []NearMiss {
	pool := slices.Clone(x.Pool)
	for i := range trials {
		if t := &trials[i]; t.Margin != nil && len(t.Kinds) == 0 && (x.space.Beyond || !t.Beyond) {
			pool = append(pool, t.nearMiss())
		}
	}
	// Stable: of equals, those found first.
	slices.SortStableFunc(pool, func(a, b NearMiss) int { return cmp.Compare(a.Slack(), b.Slack()) })
	of := map[uint64]int{}
	kept := pool[:0]
	for _, e := range pool {
		if of[e.Candidate.Seed]++; of[e.Candidate.Seed] <= maxSiblings && len(kept) < maxNearMisses {
			kept = append(kept, e)
		}
	}
	return kept
}
