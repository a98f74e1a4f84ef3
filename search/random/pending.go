package random

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

const (
	// shrinksPerGeneration bounds how many violations are shrunk in a generation, and shrinksAtATime how many before pending
	// ones are compared with the new findings.
	shrinksPerGeneration = 8
	shrinksAtATime       = 4
	// shrinkRuns bounds the runs for shrinking one.
	shrinkRuns = 3000
	// shrinkForeign does for one of somebody's lock.
	shrinkForeign = 400
	// maxPending bounds how many are pending.
	maxPending = 200
	// maxRaw bounds how many are written down unshrunk in a generation.
	maxRaw = 20
)

// pending is a violation that is to be shrunk.
type pending struct {
	Run       int                  `json:"run"`
	Candidate experiment.Candidate `json:"candidate"`
	search.Shown
	// Known is the number, from 1, of the finding that explains it; 0 if none does.
	Known int `json:"known,omitempty"`
}

// keepRaw writes a violation that no finding explains down unshrunk as soon as it is found, in case the search is killed.
func (x *explorer) keepRaw(r *tried, run int) error {
	isNew := slices.ContainsFunc(r.Pending, func(p pending) bool { return p.Known == 0 })
	if !isNew || x.options.Dir == "" || x.raw == maxRaw {
		return nil
	}
	x.raw++
	t := &r.Trial
	s := t.Candidate.Scenario(x.space)
	s.Title, s.Source = fmt.Sprintf("%s, not shrunk yet", counting(x.space, t)[0]), "a random search"
	s.Explanation = fmt.Sprintf("Run %d.", run)
	s.Recorded = &scenarios.Recorded{Seed: t.Candidate.Seed, History: t.History}
	_, err := x.keep(s, search.RawFile(run))
	return err
}

// reduce removes from an experiment the faults and the settings that are known to cause its violation, finding by finding, as
// long as the violation remains. In the end either no finding explains it, or it needs those of one.
// Where the run without them fails, the finding may as well be the cause.
func (q *question) reduce(p pending, buffer *history.History, failed func(error)) pending {
	for {
		known := q.findings.Explain(p.Shown)
		if known == 0 {
			return p
		}
		f := &q.findings[known-1]
		without := p.Candidate.With(experiment.Mutation{Without: f.Causes()})
		var t trial
		if len(f.Causes()) > 0 {
			var err error
			if t, err = try(q.space, without, buffer); err != nil && !errors.Is(err, scenarios.ErrTooLong) {
				failed(err)
			}
		}
		shown := t.Shown(p.Kind, t.Settings)
		if !slices.Contains(t.Kinds, p.Kind) || shown.Beyond && !p.Beyond || shown.Despite && !p.Beyond && !p.Despite {
			p.Known = known
			return p
		}
		p.Candidate, p.Shown = without, shown
	}
}

// settle shrinks at most limit pending violations, and counts those that a finding explains. If ctx ends first, its result must
// be discarded.
func (x *explorer) settle(ctx context.Context, limit int) error {
	x.raw = 0
	for {
		if err := x.explain(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		batch := x.batch(min(limit, shrinksAtATime))
		if len(batch) == 0 {
			break
		}
		limit -= len(batch)
		found, err := each(ctx, x, shrinkJobs, batch, nil)
		if err != nil || ctx.Err() != nil {
			return err
		}
		for i := range found {
			if found[i].Failed {
				x.Summary.Unshrunk++
				continue
			}
			if err := x.Summary.Findings.Add(found[i].Output.Finding, x.options.Dir, x.options.Rules); err != nil {
				return err
			}
		}
		x.Pending = slices.DeleteFunc(x.Pending, func(p pending) bool {
			return slices.ContainsFunc(batch, func(b pending) bool { return b.Run == p.Run && b.Kind == p.Kind })
		})
	}
	if over := len(x.Pending) - maxPending; over > 0 {
		x.Summary.Unshrunk += over
		x.Pending = x.Pending[:maxPending]
	}
	return nil
}

// explain counts the pending violations that a finding explains, and removes them. Those within the budget come first, so that
// they are never crowded out.
func (x *explorer) explain(ctx context.Context) error {
	all, err := each(ctx, x, reduceJobs, x.Pending, nil)
	if err != nil || ctx.Err() != nil {
		return err
	}
	var open []pending
	for i, p := range x.Pending {
		if !all[i].Failed {
			p = all[i].Output
		}
		if p.Known != 0 {
			x.Summary.Findings[p.Known-1].Times++
		} else {
			open = append(open, p)
		}
	}
	search.WithinFirst(open, func(p pending) bool { return p.Beyond })
	x.Pending = open
	return nil
}

// finish shrinks all pending violations once all runs are made, and saves after every few.
func (x *explorer) finish(ctx context.Context) error {
	for len(x.Pending) > 0 {
		before := x.Summary.clone()
		if err := x.settle(ctx, shrinksAtATime); err != nil || ctx.Err() != nil {
			x.Summary = before
			return err
		}
		if err := x.save(); err != nil {
			return err
		}
	}
	return x.save() // also if there was nothing to do
}

// batch is the first n pending violations that differ in more than their runs.
func (x *explorer) batch(n int) []pending {
	var batch []pending
	for _, p := range x.Pending {
		if len(batch) < n && !slices.ContainsFunc(batch, func(b pending) bool { return b.Alike(&p.Shown) }) {
			batch = append(batch, p)
		}
	}
	return batch
}
