package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/jobs"
)

// Suite verifies each scenario on each tier, several at a time, and returns the results scenario by scenario. The seed of
// the options, if it is zero, is the one that a scenario was recorded with. Where a scenario's histories, or what passed
// between libraries and nodes, differ between tiers, the later result has it as a problem. done, if not nil, is told of each
// result by its index as soon as it is there and before tiers are compared, and how long it took on this machine; it is
// called by one goroutine at a time. When ctx ends before all have run, the error is ctx's.
func Suite(ctx context.Context, all []*Scenario, tiers []Tier, o Options, done func(i int, took time.Duration)) ([]*Result, error) {
	placed := func(i int) (*Scenario, Options) {
		s, o := all[i/len(tiers)], o
		o.Tier = tiers[i%len(tiers)]
		o.Seed = s.Seed(o.Seed)
		return s, o
	}
	dialogues := make([]dialogue, len(all)*len(tiers))
	verified, err := jobs.Set[struct{}, *Result]{N: len(all) * len(tiers),
		Do: func(_ context.Context, _ *struct{}, i int) (*Result, error) {
			s, o := placed(i)
			if len(tiers) > 1 {
				o.Overheard = dialogues[i].add
			}
			return Verify(s, o)
		},
		Done: func(i int, _ *Result, took time.Duration) error {
			if done != nil {
				done(i, took)
			}
			return nil
		},
		Name: func(i int) string {
			s, o := placed(i)
			return fmt.Sprintf("%s on %s, seed %d", s.Name, o.Tier, o.Seed)
		},
	}.Run(ctx)
	if slices.ContainsFunc(verified, func(r jobs.Result[*Result]) bool { return !r.Done }) {
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(verified))
	for i := range verified {
		results[i] = verified[i].Value
		first := results[i-i%len(tiers)]
		switch r := results[i]; {
		case r.HistoryHash != first.HistoryHash:
			r.Problems = append(r.Problems, Problem{Safety, fmt.Sprintf("%v: %s: %s", ErrTiersDiffer, first.DifferenceOn(r), noVerdict)})
		case dialogues[i] != dialogues[i-i%len(tiers)]:
			words, err := firstWords(r.Scenario, Options{Seed: r.Seed}, first.Tier, r.Tier)
			if err != nil {
				return nil, err
			}
			r.Problems = append(r.Problems, Problem{Safety, fmt.Sprintf("%v: %s: %s", ErrTiersDiffer, words, noVerdict)})
		}
	}
	return results, nil
}
