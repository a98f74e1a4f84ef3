package random

import (
	"cmp"
	"context"
	"slices"

	"redlocksim/checker"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

// FirstViolation is the first run of a search that violates something that counts.
type FirstViolation struct {
	// Run is its number, from 1; zero if there is none.
	Run int
	// Kinds are what it violates.
	Kinds []checker.Kind
}

// firstGeneration is how many runs First makes before it chooses new near misses to start from.
const firstGeneration = 100

// First searches as Explore does, but stops at the first violation, shrinks and writes nothing, and searches no known-broken
// lock. The error matches scenarios.ErrTiersDiffer if a run is not the same on tier wire. It is for locks that are known to be
// broken. Violations of the known kinds do not count: the lock has them by design, and is searched for others.
func First(ctx context.Context, space experiment.Space, seed uint64, runs int, known ...checker.Kind) (FirstViolation, error) {
	o := Options{Seed: seed, Runs: runs, Generation: firstGeneration}
	x := &explorer{space: space, options: o.whole(space.Foreign != nil), checkpoint: &checkpoint{Visits: newVisits(), Worded: newWorded()}}
	var buffer history.History
	for done := 0; done < runs; done += firstGeneration {
		var trials []trial
		for i, c := range x.candidates(done, min(firstGeneration, runs-done)) {
			if ctx.Err() != nil {
				return FirstViolation{}, context.Cause(ctx)
			}
			t, err := try(space, c.Candidate, &buffer)
			if err != nil {
				return FirstViolation{}, err
			}
			kinds := slices.DeleteFunc(counting(x.space, &t), func(k checker.Kind) bool { return slices.Contains(known, k) })
			if len(kinds) > 0 {
				return FirstViolation{done + i + 1, kinds}, nil
			}
			trials = append(trials, t)
		}
		if err := x.selfCheck(ctx, done, trials); err != nil || ctx.Err() != nil {
			return FirstViolation{}, cmp.Or(err, context.Cause(ctx))
		}
		if err := x.Summary.Failures.Err("", ""); err != nil {
			return FirstViolation{}, err
		}
		for i := range trials {
			x.Visits.add(trials[i].States)
		}
		x.Pool, x.Rare = x.narrowest(trials), x.rare(trials)
	}
	return FirstViolation{}, nil
}
