package sweep

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/kernel"
)

// Cell is a point of a sweep and what was seen there.
type Cell struct {
	// At is the values of the axes, as words.
	At []string `json:"at"`
	// Invalid is why the protocol refuses these settings; empty if it does not. Nothing was run then.
	Invalid string `json:"invalid,omitempty"`
	// Breaches are the schedules that broke the lock.
	Breaches []Breach `json:"breaches"`
	// NotTested are the schedules that did not take place.
	NotTested []Missed `json:"not_tested,omitempty"`
	// Random is the random experiments; nil if there were none.
	Random *Sample `json:"random,omitempty"`
	// Measures are those of all runs.
	Measures

	// took is Outcome.Messages of each schedule.
	took map[string]time.Duration
}

// Untested says that a schedule did not take place, and that nothing else broke the lock: it is not known to be safe.
func (c *Cell) Untested() bool { return len(c.NotTested) > 0 && !c.Broken() }

// Broken says that a schedule or a random experiment within the budget broke the lock.
func (c *Cell) Broken() bool {
	return len(c.Breaches) > 0 || c.brokenAtRandom()
}

// brokenAtRandom says that a random experiment within the budget broke the lock, and no schedule did.
func (c *Cell) brokenAtRandom() bool {
	return len(c.Breaches) == 0 && c.Random != nil && c.Random.Violations > 0
}

// Sample is what random experiments within the budget showed.
type Sample struct {
	Runs       int `json:"runs"`
	Violations int `json:"violations"`
	// Share is the 95 % confidence interval for the share of runs with a violation.
	Share Interval `json:"ci95"`
	// NotTested is how many runs were without contention.
	NotTested int `json:"not_tested"`
	// First is the seed of the first run with a violation.
	First *uint64 `json:"first_violation_seed,omitempty"`
}

// Measures are what calls cost, in true time.
type Measures struct {
	// Unavailable is the longest time for which nobody could get the lock though somebody asked.
	Unavailable time.Duration `json:"unavailable_ns"`
	// Acquires is how many calls were granted the lock, and Refused how many were not.
	Acquires int `json:"acquires"`
	Refused  int `json:"refused"`
	// P50 and P99 are quantiles of how long the granted ones took.
	P50 time.Duration `json:"acquire_p50_ns"`
	P99 time.Duration `json:"acquire_p99_ns"`
}

// meter collects Measures.
type meter struct {
	Measures
	took []time.Duration
}

func (m *meter) add(r *scenarios.Result) {
	m.Unavailable = max(m.Unavailable, r.Unavailable)
	took, refused := Acquires(r.History)
	m.took, m.Refused = append(m.took, took...), m.Refused+refused
}

// Acquires is how long the acquires of a history took that were granted the lock, in their order, and how many were refused it.
func Acquires(h history.History) (took []time.Duration, refused int) {
	called := map[int]int64{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Func != history.Acquire:
		case e.Kind == history.Call:
			called[e.Op] = e.Time
		case e.Kind == history.Return && e.Outcome == history.OK:
			took = append(took, time.Duration(e.Time-called[e.Op]))
		case e.Kind == history.Return:
			refused++
		}
	}
	return took, refused
}

func (m *meter) sum() Measures {
	slices.Sort(m.took)
	m.Acquires, m.P50, m.P99 = len(m.took), rank(m.took, 50), rank(m.took, 99)
	return m.Measures
}

// rank is the smallest of the sorted values that at least percent of them do not exceed; 0 if there are none.
func rank(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

// cell runs everything at a point. When ctx ends it gives up, with the error context.Canceled.
func (s *Spec) cell(ctx context.Context, at []Setting) (Cell, error) {
	c := Cell{Breaches: []Breach{}, took: map[string]time.Duration{}}
	for _, a := range at {
		c.At = append(c.At, a.Word)
	}
	settings, err := s.settings(at)
	if invalid := (*combinationError)(nil); errors.As(err, &invalid) {
		c.Invalid = invalid.Error()
		return c, nil
	}
	if err != nil {
		return c, &SpecError{err}
	}
	var m meter
	seen := survey{}
	seen.tally.TurnOn(settings.Features()...)
	number := 0
	for _, schedule := range s.Schedules {
		out, err := schedule.Run(settings, scenarios.Options{})
		if err != nil {
			return c, err
		}
		c.took[schedule.Name] = out.Messages
		if out.Broken != "" {
			c.Breaches = append(c.Breaches, Breach{schedule.Name, out.Broken})
		}
		if out.NotTested != "" {
			c.NotTested = append(c.NotTested, Missed{schedule.Name, out.NotTested})
		}
		m.add(out.Result)
		for _, r := range out.Runs {
			run := r.Reached()
			seen.add(at, number, r.Scenario, r.Seed, reach.Of(run), run)
			number++
		}
	}
	if s.Random > 0 {
		// Schedules are contrived, and say nothing about ordinary costs.
		m = meter{}
		if c.Random, err = s.sample(ctx, settings, func(i int, t *search.Trial, r *scenarios.Result) {
			m.add(r)
			seen.add(at, number+i, r.Scenario, r.Seed, t.Reached, t.Run)
		}); err != nil {
			return c, err
		}
	}
	c.Measures = m.sum()
	s.gather.add(&seen)
	return c, nil
}

// settings are those of a point.
func (s *Spec) settings(at []Setting) (*Settings, error) {
	b, err := s.Base.With(at...)
	if err != nil {
		return nil, err
	}
	return b.Settings()
}

// sample runs random experiments. They are drawn from the same seeds at every point, so that neighbours differ only in their
// settings. add is called for each, whose history is only valid during the call.
func (s *Spec) sample(ctx context.Context, settings *Settings, add func(int, *search.Trial, *scenarios.Result)) (*Sample, error) {
	space := experiment.NewSpace(settings.Scenario.Settings())
	sample := Sample{Runs: s.Random}
	var buffer history.History
	for i := range s.Random {
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		c := faults.Drawn{Key: kernel.Key(0).WithString("sweep").With(s.Seed)}.For("run", i)
		seed := uint64(c.For("seed", 0).Below(1 << 53))
		t, r, err := search.Try(space.Draw(c), scenarios.Options{Seed: seed}, &buffer)
		if err != nil {
			return nil, err
		}
		add(i, &t, r)
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
