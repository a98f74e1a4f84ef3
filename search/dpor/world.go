package dpor

import (
	"context"
	"fmt"

	"redlocksim/internal/jobs"
	"redlocksim/reach"
)

// World is a small world with its name, and what going through it gave.
type World struct {
	// Name says what the clients do, and Fault what may go wrong at any moment.
	Name, Fault string
	setup       setup
	// Levels are what going through it gave with setup.Late from 0 on: all complete but perhaps the last.
	Levels []*Result
}

// Last is the level that went farthest.
func (w *World) Last() *Result { return w.Levels[len(w.Levels)-1] }

// Reached is what the runs of all worlds reached.
func Reached(worlds []*World) (sum reach.Tally) {
	for _, w := range worlds {
		for _, r := range w.Levels {
			sum.Merge(r.Tally)
		}
	}
	return sum
}

// Tested is how many runs of all levels say something about the lock: in each somebody was granted it.
func (w *World) Tested() int {
	n := 0
	for _, r := range w.Levels {
		n += r.Runs - r.NotTested
	}
	return n
}

// search goes through the levels up to late, until one is not complete or has shown a violation, or none can show more.
func (w *World) search(ctx context.Context, late, executions int) error {
	w.setup.Executions = executions
	for w.setup.Late = 0; ; w.setup.Late++ {
		r, err := explore(ctx, w.setup)
		if err != nil {
			return err
		}
		w.Levels = append(w.Levels, r)
		if !r.Complete || r.Violations > 0 || r.Withheld == 0 || w.setup.Late == late {
			return nil
		}
	}
}

// Search goes through worlds, several at a time, one a core if workers is zero: with setup.Late from 0 to late, without a limit
// if that is negative, and at most so many executions at each level. When the context ends, each has what was gone through
// so far. What is found does not depend on them.
func Search(ctx context.Context, worlds []*World, late, executions, workers int) error {
	_, err := jobs.Set[struct{}, struct{}]{N: len(worlds), Workers: workers,
		Do: func(ctx context.Context, _ *struct{}, i int) (struct{}, error) {
			return struct{}{}, worlds[i].search(ctx, late, executions)
		},
		Name: func(i int) string { return fmt.Sprintf("%s, %s", worlds[i].Name, worlds[i].Fault) },
	}.Run(ctx)
	return err
}
