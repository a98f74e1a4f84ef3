package sweep

import (
	"errors"
	"slices"
	"time"

	"redlocksim/internal/frontier"
	"redlocksim/internal/outfile"
	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/attacks"
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
	// Unavailable is the longest time for which nobody could get the lock though somebody asked, in true time.
	Unavailable time.Duration `json:"unavailable_ns"`
}

// Breach is an attack that succeeded, and what it broke.
type Breach struct {
	Schedule string         `json:"schedule"`
	What     attacks.Broken `json:"what"`
}

// Missed is an attack that did not take place, and why.
type Missed struct {
	Schedule string `json:"schedule"`
	Why      string `json:"why"`
}

// Untested says that a schedule did not take place, and that none broke the lock: it is not known to be safe.
func (c *Cell) Untested() bool { return len(c.NotTested) > 0 && !c.Broken() }

// Broken says that a schedule broke the lock.
func (c *Cell) Broken() bool { return len(c.Breaches) > 0 }

// side is that of a point on a frontier.
func (c *Cell) side() frontier.Side {
	return map[string]frontier.Side{scenarios.Safe: frontier.Holds, "broken": frontier.Breaks}[c.Verdict()]
}

// brokenBy and missedBy say whether a schedule did, or did not take place.
func (c *Cell) brokenBy(schedule string) bool {
	return slices.ContainsFunc(c.Breaches, func(b Breach) bool { return b.Schedule == schedule })
}

func (c *Cell) missedBy(schedule string) bool {
	return slices.ContainsFunc(c.NotTested, func(m Missed) bool { return m.Schedule == schedule })
}

// Verdict is "safe", "broken", "not tested", or "invalid" where the protocol refuses the settings.
func (c *Cell) Verdict() string {
	switch {
	case c.Invalid != "":
		return "invalid"
	case c.Broken():
		return "broken"
	case c.Untested():
		return verdict.NothingTested
	}
	return scenarios.Safe
}

// cell makes all attacks at a point of a part of the sweep, to which it adds what the runs reached.
func (s *Spec) cell(at []variant.Setting, p *part) (Cell, error) {
	c := Cell{At: words(at), Breaches: []Breach{}}
	settings, err := s.settings(at)
	if refused := (*variant.Refused)(nil); errors.As(err, &refused) {
		c.Invalid = refused.Error()
		return c, nil
	}
	if err != nil {
		return c, &SpecError{err}
	}
	if s.Foreign == nil {
		p.Tally.TurnOn(settings.Features()...)
	} else if settings.Storage != storage.Register {
		p.Tally.TurnOn(reach.Checks)
	}
	all, err := s.attacks()
	for _, a := range all {
		if err := search.Safely(func() error { return s.attack(&c, a, settings, &p.Tally) }); err != nil {
			c.NotTested = append(c.NotTested, Missed{a.Name, fails(&p.Failures, s.again(at, a.Name), err)})
		}
	}
	return c, err
}

// attack makes an attack with the settings of a point.
func (s *Spec) attack(c *Cell, a attacks.Attack, settings *attacks.Settings, tally *reach.Tally) error {
	out, err := a.Run(settings, scenarios.Options{Foreign: s.Foreign})
	if err != nil {
		return err
	}
	if out.Broken != "" {
		c.Breaches = append(c.Breaches, Breach{a.Name, out.Broken})
	}
	if out.NotTested != "" {
		c.NotTested = append(c.NotTested, Missed{a.Name, out.NotTested})
	}
	if out.Result != nil {
		c.Unavailable = max(c.Unavailable, out.Result.Unavailable)
	}
	for _, r := range out.Runs {
		run := r.Reached()
		tally.Add(reach.Of(run), run)
	}
	return nil
}

// again is the command that makes a schedule at a point again; empty if that of the sweep is not known.
func (s *Spec) again(at []variant.Setting, schedule string) string {
	if s.Repeat == "" {
		return ""
	}
	text := s.Repeat
	for _, a := range at {
		text += " --axis " + shell.Quote(a.Path+"="+a.Word)
	}
	if !s.Base.Whole {
		text += " --schedule " + schedule
	}
	return text + " --frontier=false"
}

// fails notes a run that failed, which a command repeats, and says so in a line.
func fails(all *search.Failures, command string, err error) string {
	f := search.NewFailure(nil, 0, 0, err)
	f.Command = command
	_ = all.Note(f, "", outfile.Rules{}) // without a directory nothing is written
	return "the run failed: " + f.Line()
}
