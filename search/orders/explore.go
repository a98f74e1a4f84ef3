package orders

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// Setup is what is to be gone through.
type Setup struct {
	// Scenario is the world and what its clients do. A fault of its timeline that is placed after the end of the run may
	// be injected at any moment from Begin on.
	Scenario *scenarios.Scenario
	// Begin is the true time up to which the run goes its ordinary way, each message arriving at once.
	Begin time.Duration
	// Late is how often time may go on in a run while messages are under way; negative is without a limit.
	Late int
	// Executions bounds how many runs are made; zero is without a limit.
	Executions int
	// Each, if not nil, is called after every run that went to its end.
	Each func(*Run)

	// Brute turns the reduction off.
	brute bool
	// independent, if not nil, has steps taken for independent that are not.
	independent func(a, b sim.Option) bool
}

// Run is one run to its end.
type Run struct {
	*scenarios.Outcome
	// Order stands for the run up to the order of independent steps: what each process went through, what the
	// nodes know in the end, and the violations.
	Order sim.Key
	// Kinds are the violations, and Beyond is where the faults exceeded the budget.
	Kinds  []checker.Kind
	Beyond []string
	// Steps are what was chosen, in order.
	Steps []sim.Option
}

// Result is what was gone through and found.
type Result struct {
	// Runs is how many runs went to their end, no two of them equal up to the order of independent steps. Cut is how many
	// were given up when it turned out that they were equal to an earlier one.
	Runs, Cut int
	// NotTested is how many of the Runs say nothing about the lock: nobody was granted it from Begin on.
	NotTested int
	// Injected is in how many of the Runs the fault that may be injected was.
	Injected int
	// Distinct is how many of the Runs differ in what some process went through, a node knows in the end, or is
	// violated.
	Distinct int
	// Longest is the largest number of choices in a run, and Steps that of all runs together.
	Longest, Steps int
	// Complete says that nothing is left; otherwise the limit on Executions or the context cut the exploration.
	Complete bool
	// Withheld is how many times time could have gone on but for the bound on Late: if it is zero, the bound cut nothing.
	Withheld int
	// Violations is how many runs violated something within the budget, and BeyondViolations beyond it.
	Violations, BeyondViolations int
	// First is the first of the former, or of the latter if there is none; nil if there is neither.
	First *Run
	// Tally is what the Runs reached. Nobody looks for faults that made a difference: without one the run would be of
	// another order.
	reach.Tally
}

// Explore goes through all orders. It stops when the context ends, with what was gone through so far. The error is an
// internal one: the library or simulator failed, or a run did not repeat itself.
func Explore(ctx context.Context, s Setup) (*Result, error) {
	x := &explorer{setup: s, result: &Result{}, processes: bits(s.Scenario), seen: map[sim.Key]bool{}}
	x.result.TurnOn(s.Scenario.Features()...)
	x.result.NoEffects = true
	x.fault = x.footprintOfFault()
	for {
		if ctx.Err() != nil || s.Executions > 0 && x.result.Runs+x.result.Cut >= s.Executions {
			return x.result, nil
		}
		if err := x.execute(); err != nil {
			return nil, err
		}
		if !x.advance() {
			x.result.Complete = true
			return x.result, nil
		}
	}
}

// explorer is the state of an exploration: a path in the tree of choices, and what is still to be tried along it.
type explorer struct {
	setup     Setup
	result    *Result
	processes map[string]set64
	fault     footprint
	seen      map[sim.Key]bool
	buffer    history.History

	frames []frame // the path, with the last choice not made yet
	trace  []step  // the steps of the run under way

	// of the run under way
	memories []sim.Key
	recorded int
	blocked  bool
	lost     error
}

// frame is a point of a run at which something was chosen.
type frame struct {
	options []sim.Option
	chosen  sim.Option
	// backtrack is what is to be tried here, the chosen one included; sleep is what need not be.
	backtrack []sim.Key
	sleep     []sleeper
	late      int
}

// sleeper is a step that was tried at an earlier point, and would lead to nothing new as long as no step that depends on
// it is made.
type sleeper struct {
	option sim.Option
	footprint
}

func (f *frame) option(id sim.Key) (sim.Option, bool) {
	for _, o := range f.options {
		if o.ID == id {
			return o, true
		}
	}
	return sim.Option{}, false
}

func (f *frame) sleeps(id sim.Key) bool {
	for i := range f.sleep {
		if f.sleep[i].option.ID == id {
			return true
		}
	}
	return false
}

func (f *frame) tries(id sim.Key) bool {
	for _, b := range f.backtrack {
		if b == id {
			return true
		}
	}
	return false
}

// next chooses what is to be tried here and does not sleep.
func (f *frame) next() bool {
	for _, id := range f.backtrack {
		if f.sleeps(id) {
			continue
		}
		if o, ok := f.option(id); ok {
			f.chosen = o
			return true
		}
	}
	return false
}

// advance goes to the next choice that is to be tried, deepest first.
func (x *explorer) advance() bool {
	for n := len(x.frames); n > 0; n-- {
		f := &x.frames[n-1]
		// What was tried sleeps from now on.
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
	out, err := scenarios.Run(x.setup.Scenario, scenarios.Options{Chooser: p, Buffer: x.buffer})
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

func (x *explorer) judge(out *scenarios.Outcome) error {
	s := x.setup.Scenario
	protocol, _ := protocols.Find(string(s.Lock.Protocol))
	report, err := checker.Check(out.History, checker.Options{End: checker.Instant(s.Duration), Reentrant: protocol.Reentrant, MaxOperations: -1})
	if err != nil {
		return fmt.Errorf("orders: %s: %w", s.Name, err)
	}
	r := &Run{Outcome: out, Order: order(out.History, x.memories)}
	for _, f := range report.Findings {
		if f.Kind.Violation() {
			r.Kinds = append(r.Kinds, f.Kind)
			r.Order = r.Order.WithString(string(f.Kind))
		}
	}
	x.result.Runs++
	if !granted(out.History, x.setup.Begin) {
		x.result.NotTested++
	}
	if last := len(s.Timeline) - 1; last >= 0 && s.Timeline[last].Fault != nil && s.Timeline[last].When.At > s.Duration && !slices.Contains(out.Left, last) {
		x.result.Injected++
	}
	run := (&scenarios.Result{Scenario: s, Outcome: out, Report: report}).Reached()
	x.result.Tally.Add(reach.Of(run), run)
	if !x.seen[r.Order] {
		x.seen[r.Order] = true
		x.result.Distinct++
	}
	x.buffer = out.History
	if r.Kinds != nil {
		r.Beyond = s.Budget.Beyond(out.Used)
		first := x.result.First == nil || x.result.First.Beyond != nil && r.Beyond == nil
		if r.Beyond == nil {
			x.result.Violations++
		} else {
			x.result.BeyondViolations++
		}
		if first {
			for i := range x.trace {
				r.Steps = append(r.Steps, x.trace[i].option)
			}
			x.result.First, x.buffer = r, nil
		}
	}
	if x.setup.Each != nil {
		x.setup.Each(r)
	}
	return nil
}

// granted says whether somebody was granted the lock from a time on.
func granted(h history.History, from time.Duration) bool {
	return slices.ContainsFunc(h, func(e history.Event) bool {
		return e.Time >= int64(from) && e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	})
}

// order stands for what each process went through, whatever the order between them, and for what the nodes know.
func order(h history.History, memories []sim.Key) sim.Key {
	of := map[string]sim.Key{}
	type numbering struct{ process string }
	ops := map[int]int64{} // by number, its number among those of its process
	counts := map[numbering]int64{}
	number := func(process string, op int) uint64 {
		if op == 0 {
			return 0
		}
		if _, ok := ops[op]; !ok {
			counts[numbering{process}]++
			ops[op] = counts[numbering{process}]
		}
		return uint64(ops[op])
	}
	for i := range h {
		e := &h[i]
		of[e.Process] = of[e.Process].With(uint64(e.Time)).WithString(string(e.Kind)).WithString(string(e.Func)).WithString(string(e.Outcome)).
			WithString(e.Name).WithString(e.Resource).WithString(e.Node).WithString(e.Detail).With(uint64(e.Span)).With(uint64(e.Token)).With(number(e.Process, e.Op)).With(number(e.Process, e.Grant))
	}
	var all sim.Key
	for process, k := range of { // in whatever order
		all ^= k.WithString(process)
	}
	for _, m := range memories {
		all = all.With(uint64(m))
	}
	return all
}
