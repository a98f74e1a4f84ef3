package dpor

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Run is a completed run.
type Run struct {
	*scenarios.Outcome
	// Kinds are the violations, Beyond is where the faults exceeded the budget, and Excused says that this excuses all of them.
	Kinds   []checker.Kind
	Beyond  []string
	Excused bool
	// Steps are what was chosen, in order.
	Steps []kernel.Option

	// fingerprint is the same for runs that differ only in the order of independent steps: it is of what each process went
	// through, what the nodes know in the end, and the violations.
	fingerprint kernel.Key
}

// judge judges the run just made as other searches do, but without the linearizability check, which would take longer than it.
func (x *explorer) judge(out *scenarios.Outcome) error {
	s := x.setup.Scenario
	o := s.CheckOptions()
	o.MaxOperations = -1
	report, err := checker.Check(out.History, o)
	if err != nil {
		return fmt.Errorf("dpor: %s: %w", s.Name, err)
	}
	r := &Run{Outcome: out, fingerprint: fingerprint(out.History, x.memories)}
	for _, kind := range report.Shows(checker.Kind.Defect) {
		r.fingerprint = r.fingerprint.WithString(string(kind))
	}
	// What monitors find is no part of the fingerprint: it depends on the order of steps that are independent for the lock.
	report.Compared.Watched = out.Watched
	report.Add(slices.DeleteFunc(slices.Clone(out.Monitored), unjudged)...)
	r.Kinds = report.Shows(checker.Kind.Defect)
	x.result.Runs++
	if !granted(out.History, x.setup.Begin) {
		x.result.NotTested++
	}
	if last := len(s.Timeline) - 1; last >= 0 && s.Timeline[last].Fault != nil && s.Timeline[last].When.At > s.Duration && !slices.Contains(out.Left, last) {
		x.result.Injected++
	}
	judged := &verdict.Result{Scenario: s, Outcome: out, Report: report, Beyond: s.Budget.Beyond(out.Used)}
	run := judged.Reached()
	x.result.Tally.Add(reach.Of(run), run)
	if !x.seen[r.fingerprint] {
		x.seen[r.fingerprint] = true
		x.result.Distinct++
	}
	x.buffer = out.History
	if r.Kinds != nil {
		r.Beyond, r.Excused = judged.Beyond, !judged.Inexcusable()
		first := r.goesBefore(x.result.First)
		if !r.Excused {
			x.result.Violations++
			if !slices.ContainsFunc(r.Kinds, checker.Kind.Violation) {
				x.result.Liveness++
			}
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

// goesBefore says whether the run is told of instead of the first so far: there is none, or it was excused, and this is not.
func (r *Run) goesBefore(first *Run) bool { return first == nil || first.Excused && !r.Excused }

// unjudged are findings that mean nothing here: a lock that was found unprotected counts only once another run confirms it, and
// how long a lock may keep its clients waiting goes by what messages take, which the order decides.
func unjudged(f checker.Finding) bool {
	return f.Kind == checker.Unprotected || f.Kind == checker.NeedlesslyUnavailable
}

// granted says whether somebody was granted the lock from a time on.
func granted(h history.History, from time.Duration) bool {
	return slices.ContainsFunc(h, func(e history.Event) bool {
		return e.Time >= int64(from) && e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	})
}

// fingerprint stands for what each process experienced, whatever the order between processes, and for what the nodes know.
func fingerprint(h history.History, memories []kernel.Key) kernel.Key {
	of := map[string]kernel.Key{}
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
	var all kernel.Key
	for process, k := range of { // in whatever order
		all ^= k.WithString(process)
	}
	for _, m := range memories {
		all = all.With(uint64(m))
	}
	return all
}
