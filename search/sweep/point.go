package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
	"redlocksim/sim/storage"
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

// Verdict is "safe", "broken", "not tested", or "invalid" where the protocol refuses the settings.
func (c *Cell) Verdict() string {
	switch {
	case c.Invalid != "":
		return "invalid"
	case c.Broken():
		return "broken"
	case c.Untested():
		return scenarios.NothingTested
	}
	return scenarios.Safe
}

// cell runs everything at a point, and adds what the runs reached. When ctx ends it gives up, with the error context.Canceled.
func (s *Spec) cell(ctx context.Context, at []Setting, all *survey) (Cell, error) {
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
	if s.Foreign == nil {
		seen.Tally.TurnOn(settings.Features()...)
	} else if settings.Storage != storage.Register {
		seen.Tally.TurnOn(reach.Checks)
	}
	number := 0
	for _, schedule := range s.Schedules {
		err := search.Safely(func() error { return s.attack(&c, schedule, settings, &m, &number, &seen, at) })
		if err != nil {
			c.NotTested = append(c.NotTested, Missed{schedule.Name, seen.fails(s.again(at, schedule.Name, 0), err)})
		}
	}
	if s.Random > 0 {
		// Schedules are contrived, and say nothing about ordinary costs.
		m = meter{}
		if c.Random, err = s.sample(ctx, settings, func(i int, t *search.Trial, r *scenarios.Result) {
			m.add(r)
			seen.add(at, number+i, r.Scenario, r.Seed, t.Reached, t.Run)
		}, func(i int, err error) {
			why := seen.fails(s.again(at, "", i+1), err)
			c.NotTested = append(c.NotTested, Missed{fmt.Sprintf("random run %d", i+1), why})
		}); err != nil {
			return c, err
		}
	}
	c.Measures = m.sum()
	all.merge(&seen)
	return c, nil
}

// attack makes a schedule with the settings of a point, from the number-th run there on.
func (s *Spec) attack(c *Cell, schedule Schedule, settings *Settings, m *meter, number *int, seen *survey, at []Setting) error {
	out, err := schedule.Run(settings, scenarios.Options{Foreign: s.Foreign})
	if err != nil {
		return err
	}
	c.took[schedule.Name] = out.Messages
	if out.Broken != "" {
		c.Breaches = append(c.Breaches, Breach{schedule.Name, out.Broken})
	}
	if out.NotTested != "" {
		c.NotTested = append(c.NotTested, Missed{schedule.Name, out.NotTested})
	}
	if out.Result != nil {
		m.add(out.Result)
	}
	for _, r := range out.Runs {
		run := r.Reached()
		seen.add(at, *number, r.Scenario, r.Seed, reach.Of(run), run)
		*number++
	}
	return nil
}

// again is the command that makes a schedule at a point again, or so many random runs; empty if that of the sweep is not known.
func (s *Spec) again(at []Setting, schedule string, random int) string {
	if s.Repeat == "" {
		return ""
	}
	text := s.Repeat
	for _, a := range at {
		text += " --axis " + shell.Quote(a.Path+"="+a.Word)
	}
	if schedule != "" && !s.Base.whole {
		text += " --schedule " + schedule
	}
	return fmt.Sprintf("%s --frontier=false --random %d --seed %d", text, random, s.Seed)
}

// settings are those of a point.
func (s *Spec) settings(at []Setting) (*Settings, error) {
	b, err := s.Base.With(at...)
	if err != nil {
		return nil, err
	}
	return b.Settings()
}
