package sweep

import (
	"context"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Sample is what random experiments within the budget showed.
type Sample struct {
	Runs       int `json:"runs"`
	Violations int `json:"violations"`
	// Share is the 95 % confidence interval for the share of runs with a violation.
	Share Interval `json:"ci95"`
	// Failed is how many more could not be made or judged.
	Failed int `json:"failed,omitempty"`
	// NotTested is how many runs were without contention.
	NotTested int `json:"not_tested"`
	// First is the seed of the first run with a violation.
	First *uint64 `json:"first_violation_seed,omitempty"`
}

// sample runs random experiments. They are drawn from the same seeds at every point, so that neighbours differ only in their
// settings. add is called for each, whose history is only valid during the call, and failed for one that fails.
func (s *Spec) sample(ctx context.Context, settings *Settings, add func(int, *search.Trial, *scenarios.Result), failed func(int, error)) (*Sample, error) {
	space := experiment.NewSpace(settings.Scenario.Settings())
	space.Own, space.Foreign = s.Foreign != nil, s.Foreign
	sample := Sample{}
	var buffer history.History
	for i := range s.Random {
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		c := faults.Drawn{Key: kernel.Key(0).WithString("sweep").With(s.Seed)}.For("run", i)
		seed := uint64(c.For("seed", 0).Below(1 << 53))
		var t search.Trial
		err := search.Safely(func() error {
			tried, r, err := search.Try(space.Draw(c), scenarios.Options{Seed: seed, Foreign: s.Foreign}, &buffer)
			if err == nil {
				t = tried
				add(i, &t, r)
			}
			return err
		})
		if err != nil {
			sample.Failed++
			failed(i, err)
			continue
		}
		sample.Runs++
		if t.NotTested {
			sample.NotTested++
		}
		if t.Within() {
			if sample.Violations++; sample.First == nil {
				sample.First = &seed
			}
		}
	}
	sample.Share = Wilson(sample.Violations, sample.Runs, Z95)
	return &sample, nil
}
