package verdict

import (
	"fmt"
	"strings"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// Measured is the worst that was measured on any of the resources; what was measured, if there is one.
func (r *Result) Measured() checker.Resource { return worst(r.Report.Resources) }

// measuredOn is what was measured on a resource.
func (r *Result) measuredOn(resource string) checker.Resource {
	for _, m := range r.Report.Resources {
		if m.Name == resource {
			return m
		}
	}
	return checker.Resource{Name: resource}
}

// worst is the worst of each that was measured; of equals, on the first resource.
func worst(all []checker.Resource) checker.Resource {
	if len(all) == 0 {
		return checker.Resource{}
	}
	w := all[0]
	more := func(c *checker.Count, than checker.Count) {
		if than.Number > c.Number {
			*c = than
		}
	}
	for _, m := range all[1:] {
		if m.Unavailable.For > w.Unavailable.For {
			w.Unavailable = m.Unavailable
		}
		if m.Takeover.Process != "" && (w.Takeover.Process == "" || m.Takeover.For > w.Takeover.For) {
			w.Takeover = m.Takeover
		}
		if m.AfterHealing.Process != "" && (w.AfterHealing.Process == "" || m.AfterHealing.For() > w.AfterHealing.For()) {
			w.AfterHealing = m.AfterHealing
		}
		more(&w.Attempts, m.Attempts)
		more(&w.Bypass, m.Bypass)
		more(&w.Overtakes, m.Overtakes)
		w.Fairness = min(w.Fairness, m.Fairness)
		w.Grants, w.Clients = w.Grants+m.Grants, max(w.Clients, m.Clients)
	}
	return w
}

// judgeLiveness compares what clients had to wait for with what is expected, of all resources and of some.
func (r *Result) judgeLiveness(e *scenarios.Expect, problem func(c Class, format string, args ...any)) {
	judgeOn(e.All(), r.Measured(), problem)
	for _, on := range e.Resources {
		judgeOn(&on.Value, r.measuredOn(on.Key), func(c Class, format string, args ...any) {
			problem(c, "on "+strings.ReplaceAll(on.Key, "%", "%%")+", "+format, args...)
		})
	}
}

// judgeOn compares what was measured with what is expected. A bound on something that did not come to pass is not kept: the
// run shows nothing about it.
func judgeOn(e *scenarios.ExpectOn, m checker.Resource, problem func(c Class, format string, args ...any)) {
	if u, t := e.Unavailable, m.Unavailable.For; u != nil && (t > u.AtMost || t < u.AtLeast) {
		problem(Liveness, "the lock could not be had for %v, expected from %v to %v", t, u.AtLeast, u.AtMost)
	}
	if b, t := e.Takeover, m.Takeover; b != nil {
		switch {
		case t.Process == "":
			problem(Liveness, "no holder was gone while somebody else asked, expected a takeover")
		case t.For < b.AtLeast || t.For > b.AtMost:
			problem(Liveness, "%v for the lock of %s to be taken over%s, expected from %v to %v", t.For, t.Process, inVain(t.By != ""), b.AtLeast, b.AtMost)
		}
	}
	count := func(b *scenarios.CountBounds, c checker.Count, text string) {
		if b != nil && (c.Number < b.AtLeast || c.Number > b.AtMost) {
			who := c.Wait.Process
			if who == "" {
				who = "no client"
			}
			problem(Liveness, text+", expected from %d to %d", who, c.Number, c.Wait.For(), b.AtLeast, b.AtMost)
		}
	}
	count(e.Attempts, m.Attempts, "%s made %d attempts in one wait of %v")
	count(e.Bypass, m.Bypass, "%s saw %d grants to others go by in one wait of %v")
	count(e.Overtakes, m.Overtakes, "%s was overtaken %d times in one wait of %v")
	if b, w := e.AfterHealing, m.AfterHealing; b != nil {
		switch {
		case w.Process == "":
			problem(Liveness, "nobody asked for the lock after the faults were healed, expected somebody to be granted it")
		case w.For() < b.AtLeast || w.For() > b.AtMost:
			problem(Liveness, "%s waited for %v after the faults were healed%s, expected from %v to %v", w.Process, w.For(), inVain(w.Granted), b.AtLeast, b.AtMost)
		}
	}
}

// inVain says of a wait that it was not ended by a grant.
func inVain(granted bool) string {
	if granted {
		return ""
	}
	return ", in vain"
}

// verifyUnbounded runs the scenario for twice its duration. The time for which the lock cannot be had is without bound if
// it lasts to the end in both runs, from the same moment on.
func (r *Result) verifyUnbounded(problem func(c Class, format string, args ...any)) error {
	twice := *r.Scenario
	twice.Duration *= 2
	out, err := scenarios.Run(&twice, r.options())
	if err != nil {
		return err
	}
	report, err := checker.Check(out.History, twice.CheckOptions())
	if err != nil {
		return failed(&twice, r.options(), fmt.Errorf("twice as long: %w", err))
	}
	short, long := r.Measured().Unavailable, (&Result{Report: report}).Measured().Unavailable
	r.Unbounded = short.For > 0 && short.ToSeq == 0 && long.ToSeq == 0 && long.FromSeq == short.FromSeq && long.For-short.For == r.Scenario.Duration
	if !r.Unbounded {
		problem(Liveness, "the lock could not be had for %v in a run of %v and for %v in one of %v, expected it to be unbounded: the second longer by as much as the run",
			short.For, r.Scenario.Duration, long.For, twice.Duration)
	}
	return nil
}
