package scenarios

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// Class is what a problem concerns.
type Class uint8

const (
	// Safety: mutual exclusion.
	Safety Class = iota + 1
	// Liveness: how long the lock could not be had.
	Liveness
	// NotTested: what was to be tested did not take place, so that the run shows nothing.
	NotTested
)

// Problem is something in which a run was not as expected.
type Problem struct {
	Class Class
	Text  string
}

// Result is a run, judged.
type Result struct {
	Scenario *Scenario
	Tier     Tier
	Seed     uint64
	*Outcome
	Report checker.Report
	// Findings are the kinds found, in the checker's order.
	Findings Findings
	// NotTested says what did not take place of what the run was to test: a fault that was not injected, a client that did not
	// start, something that had to be reached, contention at all. Nil if everything did; else the run is no evidence that
	// the lock is safe.
	NotTested []string
	// Beyond says where the faults exceeded the budget; nil if they did not.
	Beyond []string
	// Unavailable is the longest time for which the lock could not be had.
	Unavailable time.Duration
	// Unbounded says that a run of twice the duration showed it to last as long as the run does; looked for only where
	// that is expected.
	Unbounded bool
	// Smallest is how little of the faults still breaks the lock, where a violation was beyond the budget.
	Smallest []Smallest
	// Problems is empty if everything was as expected.
	Problems []Problem

	// locker is that of the Options, for further runs.
	locker func(protocols.Env) (protocols.Locker, error)
}

// NothingTested is the verdict of a run in which what was to be tested did not take place.
const NothingTested = "not tested"

// OK says that the run was as expected.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Has says whether there is a problem of the class.
func (r *Result) Has(c Class) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Class == c })
}

// Verdict is what the run showed, in words: "safe" or the findings, and the unavailability where that is what the
// scenario is about or what is wrong.
func (r *Result) Verdict() string {
	text := r.Findings.String()
	if len(r.NotTested) > 0 {
		text = NothingTested
		if len(r.Findings) > 0 {
			text += ", " + r.Findings.String()
		}
	}
	switch {
	case r.Unbounded:
		text += fmt.Sprintf(", unavailable %v", r.Scenario.Expect.Unavailable)
	case r.Has(Liveness) || r.Scenario.Expect.Unavailable.isTheSubject():
		text += fmt.Sprintf(", unavailable %v", r.Unavailable.Round(time.Microsecond))
	}
	return text + leaking(leaked(r.Leaks))
}

// FindingsOn are the kinds found on a resource, in the checker's order.
func (r *Result) FindingsOn(resource string) Findings {
	var found Findings
	for _, f := range r.Report.Findings {
		if f.Resource == resource {
			found = append(found, f.Kind)
		}
	}
	return found
}

// Witness is the finding that breaks mutual exclusion, nil if there is none.
func (r *Result) Witness() *checker.Finding {
	for i := range r.Report.Findings {
		if f := &r.Report.Findings[i]; f.Kind.Violation() {
			return f
		}
	}
	return nil
}

// ErrNotRepeated is the error of Verify and Again for a run that was different the second time.
var ErrNotRepeated = errors.New("the run did not repeat itself")

// Verify runs a scenario twice, compares the runs, judges them and, where a violation was beyond the budget, looks for the
// smallest faults. Its error matches ErrNotRepeated if the runs differ, ErrTooLong if one is, and is an internal one otherwise.
func Verify(s *Scenario, o Options) (result *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("scenarios: %s, tier %s, seed %d: %v\n%s", s.Name, o.Tier, o.Seed, p, debug.Stack())
		}
	}()
	r, err := Judge(s, o)
	if err != nil {
		return nil, err
	}
	if err := Again(s, o, r.Outcome); err != nil {
		return nil, err
	}
	if r.Beyond != nil && r.Witness() != nil {
		r.Smallest, err = FindSmallest(r)
	}
	return r, err
}

// Again makes a run once more, with the same tier, seed and lock, and compares the two. first must have its hashes. The
// error matches ErrNotRepeated if the runs differ, and names the first difference; any other is an internal one.
func Again(s *Scenario, o Options, first *Outcome) error {
	again, err := Run(s, Options{Tier: o.Tier, Seed: o.Seed, Locker: o.Locker})
	if err != nil {
		return err
	}
	if first.HistoryHash != again.HistoryHash || first.TraceHash != again.TraceHash {
		return fmt.Errorf("scenarios: %s, tier %s, seed %d: %w: %s", s.Name, o.Tier, o.Seed, ErrNotRepeated, difference(s, o, first, again))
	}
	return nil
}

// Judge runs a scenario once, and for twice its duration where it is to be unavailable without bound, and judges the run.
// The error matches ErrTooLong, or is an internal one.
func Judge(s *Scenario, o Options) (*Result, error) {
	out, err := Run(s, o)
	if err != nil {
		return nil, err
	}
	return judge(s, o, out)
}

// difference names the first event in which two runs differ or, if their histories are the same, looks for a step of the
// kernel in which two further runs do.
func difference(s *Scenario, o Options, a, b *Outcome) string {
	if text := FirstDifference(a.History, b.History); text != "" {
		return text
	}
	var traces [2][]kernel.TraceStep
	for i := range traces {
		if _, err := Run(s, Options{Tier: o.Tier, Seed: o.Seed, Locker: o.Locker, Trace: func(t kernel.TraceStep) { traces[i] = append(traces[i], t) }}); err != nil {
			return err.Error()
		}
	}
	for i := range min(len(traces[0]), len(traces[1])) {
		if traces[0][i] != traces[1][i] {
			return fmt.Sprintf("the histories are equal; in two further runs step %v and %v", traces[0][i], traces[1][i])
		}
	}
	return "the histories are equal and the traces are not; two further runs had the same steps"
}

// FirstDifference names the first event in which two histories differ; empty if there is none.
func FirstDifference(a, b history.History) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("event %d is %+v and %+v", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d events and %d", len(a), len(b))
	}
	return ""
}

// judge compares what a run showed with what the scenario claims and expects.
func judge(s *Scenario, o Options, out *Outcome) (*Result, error) {
	report, err := s.check(out)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %s, tier %s, seed %d: %w", s.Name, o.Tier, o.Seed, err)
	}
	report.Add(out.Monitored...)
	r := &Result{Scenario: s, Tier: o.Tier, Seed: o.Seed, Outcome: out, Report: report, Beyond: s.Budget.Beyond(out.Used), locker: o.Locker}
	if r.Tier == "" {
		r.Tier = Model
	}
	violated := false
	for _, f := range report.Findings {
		if f.Kind != checker.NotTested && !slices.Contains(r.Findings, f.Kind) {
			r.Findings = append(r.Findings, f.Kind)
		}
		violated = violated || f.Kind.Violation()
	}
	for _, u := range report.Resources {
		r.Unavailable = max(r.Unavailable, u.Unavailable.For)
	}
	problem := func(c Class, format string, args ...any) {
		r.Problems = append(r.Problems, Problem{c, fmt.Sprintf(format, args...)})
	}
	r.NotTested = s.notTested(out, report)
	for _, text := range r.NotTested {
		problem(NotTested, "not tested: %s", text)
	}
	// What was not tested is not missed.
	tested := r.NotTested == nil
	isNew := func(k checker.Kind) bool { return !slices.Contains(s.Expect.Findings, k) }
	if tested && !slices.Equal(r.Findings, s.Expect.Findings) || slices.ContainsFunc(r.Findings, isNew) {
		problem(Safety, "found %v, expected %v", r.Findings, s.Expect.Findings)
	}
	for _, on := range s.Expect.Resources {
		if found := r.FindingsOn(on.Key); !slices.Equal(found, on.Value.Findings) {
			problem(Safety, "found %v on %s, expected %v", found, on.Key, on.Value.Findings)
		}
	}
	if keys := leaked(out.Leaks); !sameSet(keys, s.Expect.Leaks) {
		problem(Liveness, "keys without a time to live: %v, expected %v (expect.leaks)", keys, s.Expect.Leaks)
	}
	violated = violated || len(out.Leaks) > 0
	switch {
	case s.Claim == Holds && violated && r.Beyond == nil:
		problem(Safety, "claimed to hold, but within the budget it ended with: %s", r.violations(out.Leaks))
	case s.Claim == Unsound && !violated && tested:
		problem(Safety, "claimed unsound, and nothing was violated")
	case s.Claim == Unsound && r.Beyond != nil:
		problem(Safety, "claimed unsound, but the faults exceed the budget: %s", strings.Join(r.Beyond, "; "))
	}
	for _, g := range s.Expect.Grants {
		if n := grants(out.History, g.Key); n != g.Value {
			problem(Safety, "%s was granted the lock %d times, expected %d", g.Key, n, g.Value)
		}
	}
	r.judgeLiveness(problem)
	if s.Expect.Unavailable.Unbounded {
		err = r.verifyUnbounded(problem)
	}
	return r, err
}

// violations names what a lock that holds never shows.
func (r *Result) violations(leaks []Leak) string {
	var all []string
	for _, kind := range r.Findings {
		if kind.Violation() {
			all = append(all, string(kind))
		}
	}
	for _, key := range leaked(leaks) {
		all = append(all, "a key without a time to live: "+key)
	}
	return strings.Join(all, ", ")
}

// notTested says what did not take place of what a run was to test.
func (s *Scenario) notTested(out *Outcome, report checker.Report) []string {
	missing := s.Expect.missed(out.History)
	for _, text := range append(slices.Clone(out.NotInjected), out.Idle...) {
		missing = append(missing, "the timeline was not carried out: "+text)
	}
	if why := report.NotTested(); why != "" {
		missing = append(missing, why)
	}
	return missing
}

func grants(h history.History, client string) int {
	n := 0
	for i := range h {
		if h[i].Process == client && faults.EventName(&h[i]) == "acquire-done" {
			n++
		}
	}
	return n
}
