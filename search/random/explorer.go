package random

import (
	"context"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/jobs"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

// explorer is a search under way.
type explorer struct {
	space   experiment.Space
	options Options
	*checkpoint
	raw int // files with findings that are not shrunk yet
}

// question is what the jobs of the search share now.
func (x *explorer) question() *question {
	return &question{space: x.space, findings: x.Summary.Findings, shrinkRuns: x.options.shrinkRuns, onWire: x.options.onWire}
}

// each does the jobs of a step and notes which runs failed. It stops when ctx ends, or at an error that is not that of a run.
func each[I about, O any](ctx context.Context, x *explorer, k jobs.Kind[*question, history.History, I, made[O]], inputs []I, done func(int, made[O]) error) ([]made[O], error) {
	results, err := k.Run(ctx, jobs.Place{Workers: x.options.Jobs, Elsewhere: x.options.Elsewhere}, x.question(), inputs, done)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	all := make([]made[O], len(results))
	for i := range results {
		all[i] = results[i].Value
		if err := x.note(ctx, all[i].Failures...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// counting are the violations of a run that count: those that faults beyond the budget excuse only if the search goes there.
func counting(space experiment.Space, t *trial) []checker.Kind {
	if space.Beyond {
		return slices.Clone(t.Kinds)
	}
	return slices.DeleteFunc(slices.Clone(t.Kinds), func(k checker.Kind) bool { return slices.Contains(t.Excused, k) })
}
