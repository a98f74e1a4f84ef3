package shrink

import (
	"context"
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/search"
)

// Difference gives the smallest experiment, of the same protocol, whose runs on tiers model and wire still differ, as a
// scenario file that expects what tier model shows. same makes the run of tier model on tier wire too, and is as
// [scenarios.Result.SameOn]. It takes about that many runs on each tier at the most. The error is that of the context if it
// ended, or an internal one, also where the run of tier model tests nothing.
func Difference(ctx context.Context, s *scenarios.Scenario, seed uint64, same func(*scenarios.Result) error, runs int) (*scenarios.Scenario, error) {
	whole := search.Violation{Scenario: s, Seed: seed}
	if err := whole.WithoutIdle(); err != nil {
		return nil, err
	}
	differs := func(s *scenarios.Scenario) (bool, error) {
		r, err := scenarios.Judge(s, scenarios.Options{Seed: seed})
		if err != nil || len(r.NotTested) > 0 {
			return false, err // the file would have another problem
		}
		err = same(r)
		if errors.Is(err, scenarios.ErrTiersDiffer) {
			return true, nil
		}
		return false, err
	}
	least, _, err := minimize(ctx, whole.Scenario, nil, differs, watch(scenarios.Options{Seed: seed}), runs)
	if err != nil {
		return nil, err
	}
	whole.Scenario = least
	if err := whole.WithoutIdle(); err != nil {
		return nil, err
	}
	c := *whole.Scenario
	c.Expect, c.Live = scenarios.Expect{}, scenarios.OnLive{}
	r, err := scenarios.Judge(&c, scenarios.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	say(&c, r)
	c.Title = "not the same on tiers model and wire"
	c.Explanation = fmt.Sprintf("What is expected here is what tier %s shows. Tier %s, where the adapter and its scripts run, shows something else.\n", scenarios.Model, scenarios.Wire)
	return &c, nil
}
