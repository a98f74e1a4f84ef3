package verdict

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
)

// Suite verifies each scenario on each tier, several at a time, and returns the results scenario by scenario. The seed is
// [scenarios.Scenario.Seed], not that of the options. Where a scenario's histories, or what passed between libraries and
// nodes, differ between tiers, the later result has it as a problem. A run that fails has a result, too: that of
// [FailedRun]. done, if not nil, is told of each result by its index as soon as it is there and before tiers are compared,
// and how long it took on this machine; it is called by one goroutine at a time. When ctx ends before all have run, the
// error is ctx's.
func Suite(ctx context.Context, all []*scenarios.Scenario, tiers []scenarios.Tier, seed *uint64, o scenarios.Options, done func(i int, took time.Duration)) ([]*Result, error) {
	placed := func(i int) (*scenarios.Scenario, scenarios.Options) {
		s, o := all[i/len(tiers)], o
		o.Tier = tiers[i%len(tiers)]
		o.Seed = s.Seed(seed)
		return s, o
	}
	dialogues := make([]dialogue, len(all)*len(tiers))
	verified, err := jobs.Set[struct{}, *Result]{N: len(all) * len(tiers),
		Do: func(_ context.Context, _ *struct{}, i int) (*Result, error) {
			s, o := placed(i)
			if len(tiers) > 1 {
				o.Overheard = dialogues[i].add
			}
			r, err := Verify(s, o)
			if err != nil {
				r = FailedRun(s, o, err)
			}
			return r, nil
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
		if err := results[i].compare(first, dialogues[i] == dialogues[i-i%len(tiers)]); err != nil {
			s, o := placed(i)
			results[i] = FailedRun(s, o, err)
		}
	}
	return results, nil
}
