package dpor

import (
	"context"
	"fmt"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios/reach"
)

// World is a small world, and the results of exploring it.
type World struct {
	// Name says what the clients do, and Fault what may go wrong at any moment.
	Name, Fault string
	setup       setup
	// Levels are the results with at most 0, 1, 2 and so on late messages, all complete except perhaps the last.
	Levels []*Result
	// Failed is the error of the run with which its exploration ended; nil if none failed. It is the same every time.
	Failed error
}

// Last is the last level.
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

// Tested is how many runs of all levels test the lock: in each somebody was granted it.
func (w *World) Tested() int {
	n := 0
	for _, r := range w.Levels {
		n += r.Runs - r.NotTested
	}
	return n
}

// search explores the levels up to late, until one is incomplete or has a violation, or the next would add nothing.
func (w *World) search(ctx context.Context, late, executions int) {
	w.setup.Executions = executions
	for w.setup.Late = 0; ; w.setup.Late++ {
		var r *Result
		r, w.Failed = explore(ctx, w.setup)
		w.Levels = append(w.Levels, r)
		if !r.Complete || r.Violations > 0 || r.Withheld == 0 || w.setup.Late == late {
			return
		}
	}
}

// Search explores worlds in parallel, one per core if workers is 0. In each it first allows no late message, then one, and
// so on up to late, or without a limit if that is negative; each of these levels takes at most that many executions. When
// the context ends, each world has its results so far. The number of workers does not change them.
// A run that fails ends the exploration of its world.
func Search(ctx context.Context, worlds []*World, late, executions, workers int) error {
	_, err := jobs.Set[struct{}, struct{}]{N: len(worlds), Workers: workers,
		Do: func(ctx context.Context, _ *struct{}, i int) (struct{}, error) {
			worlds[i].search(ctx, late, executions)
			return struct{}{}, nil
		},
		Name: func(i int) string { return fmt.Sprintf("%s, %s", worlds[i].Name, worlds[i].Fault) },
	}.Run(ctx)
	return err
}
