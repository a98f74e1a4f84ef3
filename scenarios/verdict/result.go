// Package verdict judges runs of scenarios: it compares what was found with what a scenario claims and expects, or with what a
// sound Redlock shows under the same faults.
//
// [Judge] makes one run and judges it, [Verify] makes it twice and compares the two, and [Suite] does so for many scenarios on
// several tiers.
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
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
	// ProgramFailed: a lock program did what none may, such as to exit, and ended the run, which has no verdict.
	ProgramFailed
	// RunFailed: the run could not be made or judged, and has no verdict.
	RunFailed
)

// Problem is something in which a run was not as expected.
type Problem struct {
	Class Class
	Text  string
}

// Result is a run, judged.
type Result struct {
	Scenario *scenarios.Scenario
	Tier     scenarios.Tier
	Seed     uint64
	*scenarios.Outcome
	Report checker.Report
	// Findings are the kinds found, in the checker's order.
	Findings scenarios.Findings
	// NotTested says what did not take place of what the run was to test: a fault that was not injected, a client that did not
	// start, something that had to be reached, contention at all. Nil if everything did; else the run is no evidence that
	// the lock is safe.
	NotTested []string
	// Unproven is one of these: why the run says nothing of the check that the resource is declared to make; empty if it does.
	Unproven string
	// Disturbed says that the machine held up a run on tier live so much that it was another scenario than the one written.
	Disturbed bool
	// Beyond says where the faults exceeded the budget; nil if they did not.
	Beyond []string
	// Unavailable is the longest time for which the lock could not be had.
	Unavailable time.Duration
	// Unbounded says that a run of twice the duration showed it to last as long as the run does; looked for only where
	// that is expected.
	Unbounded bool
	// Longer is by how much longer than Redlock somebody's lock was unavailable; 0 if that is no more than waits explain. Sound
	// is for how long Redlock was.
	Longer, Sound time.Duration
	// Smallest is how little of the faults still breaks the lock, where a violation was beyond the budget.
	Smallest []Smallest
	// Problems is empty if everything was as expected.
	Problems []Problem
	// Err is why the run could not be made or judged, with the stack of a panic; nil if it was.
	Err error

	// fewer says that somebody waited for longer than is expected of the lock, or was granted it less often.
	fewer bool
	// foreign is that of the Options.
	foreign *scenarios.Foreign
	// unrefined is that of the Options.
	unrefined bool
}

// options are those that the run was made with, for further runs of it.
func (r *Result) options() scenarios.Options {
	return scenarios.Options{Tier: r.Tier, Seed: r.Seed, Foreign: r.foreign}
}

// OfLock is why the run says nothing of the lock: NotTested without Unproven.
func (r *Result) OfLock() []string {
	return slices.DeleteFunc(slices.Clone(r.NotTested), func(why string) bool { return why == r.Unproven })
}

// Blind is Unproven where the resource refused writes that it could not have accepted; else empty.
func (r *Result) Blind() string {
	if r.Report.Compared.Unmarked == 0 {
		return ""
	}
	return r.Unproven
}

// NothingTested is the verdict of a run in which what was to be tested did not take place.
const NothingTested = "not tested"

// OK says that the run was as expected.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Quorum is how many nodes have to keep a value for its client to have the lock: 1 for a lock on one Redis, and 0 for one that
// is not kept by nodes.
func (r *Result) Quorum() int {
	if r.foreign != nil && r.foreign.OneNode {
		return 1
	}
	if quorum, voted := r.Scenario.Lock.Votes(len(r.Scenario.Nodes.Names)); voted {
		return quorum
	}
	if r.Scenario.Lock.Capabilities().Service != "" {
		return 0
	}
	return 1
}

// IsOnOne says that the lock is on one node: that node grants it, and nobody votes.
func (r *Result) IsOnOne() bool {
	return r.Quorum() == 1 && (len(r.Scenario.Nodes.Names) == 1 || r.foreign != nil && r.foreign.OneNode)
}

// Has says whether there is a problem of the class.
func (r *Result) Has(c Class) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Class == c })
}

// Lost says that the run has no verdict: a lock program has ended it, or it failed.
func (r *Result) Lost() bool { return r.Has(ProgramFailed) || r.Has(RunFailed) }

// NoVerdict stands in the place of the verdict on a run that a lock program has ended, and NotJudged in that of one that
// failed.
const (
	NoVerdict = "program failed"
	NotJudged = "failed"
)

// Verdict is what the run showed, in words: "safe" or the findings, and the unavailability where that is what the
// scenario is about or what is wrong.
func (r *Result) Verdict() string {
	switch {
	case r.Has(ProgramFailed):
		return NoVerdict
	case r.Has(RunFailed):
		return NotJudged
	}
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
	case r.Has(Liveness) || r.Scenario.Expect.Unavailable.IsTheSubject():
		text += fmt.Sprintf(", unavailable %v", r.Unavailable.Round(time.Microsecond))
	}
	if keys := leaked(r.Leaks); len(keys) > 0 {
		text += ", leaks " + strings.Join(keys, " and ")
	}
	return text
}

// standing is what a finding counts for, the least first.
type standing uint8

const (
	// implied: it goes without saying beside another.
	implied standing = iota
	// excused: faults that exceed the budget excuse it.
	excused
	// harmless: a lock that holds may show it.
	harmless
	// counting: no lock that holds shows it, and nothing excuses it.
	counting
)

// standing is what a finding of the run counts for.
func (r *Result) standing(f *checker.Finding) standing {
	isOver := f.ToSeq > 0 && kernel.True(f.To) < r.Exceeded // before the faults exceed the budget
	switch {
	case r.implies(f):
		return implied
	case r.Beyond != nil && f.Excusable() && !isOver:
		return excused
	case !f.Kind.Defect():
		return harmless
	}
	return counting
}

// implies says that a finding goes without saying beside the others: that a lock was unprotected, unless the file names it, and
// that somebody's lease was to last longer than its keys, of which no file knows.
func (r *Result) implies(f *checker.Finding) bool {
	isUnsaid := func(f *checker.Finding) bool {
		return r.Report.Implies(f) && !slices.Contains(r.Scenario.Expect.Findings, checker.Unprotected)
	}
	return isUnsaid(f) || f.Assumes && r.foreign != nil &&
		len(r.Report.Kinds(func(o *checker.Finding) bool { return o.Kind.Violation() && !o.Assumes && !isUnsaid(o) })) > 0
}

// kinds are those of such findings that count for something or more.
func (r *Result) kinds(least standing, are func(*checker.Finding) bool) scenarios.Findings {
	return r.Report.Kinds(func(f *checker.Finding) bool { return are(f) && r.standing(f) >= least })
}

// findingsOn are the kinds found on a resource, in the checker's order.
func (r *Result) findingsOn(resource string) scenarios.Findings {
	return r.kinds(excused, func(f *checker.Finding) bool { return f.Resource == resource })
}

// Excused says that the run's faults exceed the budget, and excuse what it has found of a kind.
func (r *Result) Excused(kind checker.Kind) bool {
	return r.Beyond != nil && r.kinds(harmless, func(f *checker.Finding) bool { return f.Kind == kind }) == nil
}

// Inexcusable says that something was found that no lock shows which holds, and that the faults do not excuse.
func (r *Result) Inexcusable() bool { return len(r.Leaks)+len(r.counting()) > 0 }

// counting are the kinds of the findings that no lock shows which holds, without those that the faults excuse.
func (r *Result) counting() scenarios.Findings {
	return r.kinds(counting, func(*checker.Finding) bool { return true })
}

// Witness is the finding that breaks mutual exclusion, nil if there is none. One that nothing excuses comes first.
func (r *Result) Witness() *checker.Finding { return r.First(checker.Kind.Violation) }

// Defect is the Witness or else the finding by which somebody is kept from the lock without need; nil if there is neither.
func (r *Result) Defect() *checker.Finding { return r.First(checker.Kind.Defect) }

// First is the first finding of some kinds that nothing excuses, or else the first of all; nil if there is none.
func (r *Result) First(is func(checker.Kind) bool) *checker.Finding {
	for _, least := range []standing{counting, excused} {
		for i := range r.Report.Findings {
			if f := &r.Report.Findings[i]; is(f.Kind) && r.standing(f) >= least {
				return f
			}
		}
	}
	return nil
}

// leaked is the keys among leaks, each once, in order.
func leaked(leaks []scenarios.Leak) []string {
	var keys []string
	for _, l := range leaks {
		if !slices.Contains(keys, l.Key) {
			keys = append(keys, l.Key)
		}
	}
	slices.Sort(keys)
	return keys
}
