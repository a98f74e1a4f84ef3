package dpor

import (
	"context"

	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Result is what an exploration covered and found.
type Result struct {
	// Runs is how many runs were completed, no two of them equal up to the order of independent steps. Cut is how many were
	// aborted because they turned out equal to an earlier one.
	Runs, Cut int
	// NotTested is how many of the Runs show nothing, because nobody was granted the lock once the exploration began.
	NotTested int
	// Injected is in how many of the Runs the optional fault was injected.
	Injected int
	// Distinct is how many of the Runs differ in what a process experienced, what a node knows at the end, or the violations.
	Distinct int
	// Longest is the largest number of choices in a run, and Steps that of all runs together.
	Longest, Steps int
	// Complete says that all orders were explored; otherwise the limit on executions or the context stopped the exploration.
	Complete bool
	// Withheld is how often the bound on late messages kept time from passing. If it is 0, the bound excluded nothing.
	Withheld int
	// Violations is how many runs violated something within the budget, or what no fault excuses, and BeyondViolations how many
	// others did beyond it.
	Violations, BeyondViolations int
	// Liveness is how many of the Violations only keep somebody from the lock without need.
	Liveness int
	// First is the first of the former, or of the latter if there is none; nil if there is neither.
	First *Run
	// Tally is what the Runs reached, without which faults made a difference: a run without its fault is of another order.
	reach.Tally
}

// explore explores all orders, or as many as it can before the context ends. The error is an internal one, with the result
// until then: the library or the simulator failed, or a run did not repeat.
func explore(ctx context.Context, s setup) (*Result, error) {
	x := &explorer{setup: s, result: &Result{}, processes: bits(s.Scenario), seen: map[kernel.Key]bool{}}
	x.result.TurnOn(s.Scenario.Features()...)
	x.result.NoEffects = true
	x.fault = x.footprintOfFault()
	for {
		if ctx.Err() != nil || s.Executions > 0 && x.result.Runs+x.result.Cut >= s.Executions {
			return x.result, nil
		}
		if err := search.Safely(x.execute); err != nil {
			return x.result, err
		}
		if !x.advance() {
			x.result.Complete = true
			return x.result, nil
		}
	}
}

// explorer is an exploration: a path in the tree of choices, and what remains to be tried along it.
type explorer struct {
	setup     setup
	result    *Result
	processes map[string]set64
	fault     footprint
	seen      map[kernel.Key]bool
	buffer    history.History

	frames []frame // the path, with the last choice not made yet
	trace  []step  // the steps of the run under way

	// of the run under way
	world    *sim.World
	memories []kernel.Key
	recorded int
	blocked  bool
	lost     error
}

// advance moves to the next choice to try, deepest first; false if there is none.
func (x *explorer) advance() bool {
	for n := len(x.frames); n > 0; n-- {
		f := &x.frames[n-1]
		// What was tried sleeps from here on.
		f.sleep = append(f.sleep, sleeper{f.chosen, x.trace[n-1].footprint})
		if f.next() {
			x.frames = x.frames[:n]
			return true
		}
	}
	return false
}

// execute makes one run along the path, and on to its end.
func (x *explorer) execute() error {
	x.trace = x.trace[:max(len(x.frames)-1, 0)]
	x.memories, x.recorded, x.blocked, x.lost = x.memories[:0], 0, false, nil
	p := &path{explorer: x, known: len(x.trace)}
	out, err := scenarios.Run(x.setup.Scenario, scenarios.Options{Scheduler: p, Buffer: x.buffer, Watch: func(w *sim.World) { x.world = w }})
	if err != nil {
		return err
	}
	if x.lost != nil {
		return x.lost
	}
	x.result.Steps += len(x.trace)
	x.result.Longest = max(x.result.Longest, len(x.trace))
	if x.blocked {
		x.result.Cut++
		x.buffer = out.History
		return nil
	}
	return x.judge(out)
}
