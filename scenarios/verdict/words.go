package verdict

import (
	"fmt"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
)

// isPublished says that it is a scenario of the catalogue, as it is there, of which somebody else has told.
func isPublished(s *scenarios.Scenario) bool {
	known, is := scenarios.Find(s.Name)
	return is && known == s && !strings.HasPrefix(s.Source, "ourselves")
}

// Says is what the run showed, for people: the words of package checker with what is behind them, and how long the lock could
// not be had where that is what the scenario is about or what is wrong.
func (r *Result) Says() string {
	if r.Lost() {
		return r.Verdict()
	}
	return r.told().String()
}

// Worst is the worst of the words.
func (r *Result) Worst() checker.Word { return r.told().Worst() }

// InOne is that in one word: holds, breaks, stuck, leaks or not tested.
func (r *Result) InOne() string { return r.told().InOne() }

func (r *Result) told() scenarios.Told {
	t := scenarios.Told{Findings: r.Findings, Leaks: leaked(r.Leaks), IsStuck: r.isStuck(), IsUntested: len(r.NotTested) > 0 || r.Lost()}
	if !r.Unbounded && (r.Has(Liveness) || r.Scenario.Expect.Unavailable.IsTheSubject()) {
		t.Besides = fmt.Sprintf("unavailable for %v", rounded.Duration(r.Unavailable))
	}
	return t
}

// isStuck says that the lock could not be had to the end of the run, with a key in the way that never goes, or for as long
// as the file expects of a lock that is stuck.
func (r *Result) isStuck() bool {
	u := r.Measured().Unavailable
	return u.For > 0 && u.ToSeq == 0 && (len(r.Leaks) > 0 || r.Scenario.Sticks())
}

// IsBroken says that the run shows a lock that does not hold: it breaks, leaks, or is stuck.
func (r *Result) IsBroken() bool {
	one := r.InOne()
	return one != string(checker.Holds) && one != string(checker.Untested)
}

// Headline is what the run showed beside what was expected of it, in a line.
func (r *Result) Headline() string {
	says, ending := r.Says(), r.Ending()
	switch one := r.InOne(); {
	case ending == "":
		return says
	case !strings.HasPrefix(ending, one):
		return says + ", " + ending
	case strings.HasPrefix(says, one):
		return says + strings.TrimPrefix(ending, one)
	}
	return says + ": " + ending
}

// Ending is how the run came out beside what was expected of it: that a lock breaks as somebody has published it is no alarm,
// and not to be taken for a lock that holds. It is empty of somebody's lock that holds.
func (r *Result) Ending() string {
	one := r.InOne()
	holds := one == string(checker.Holds)
	switch {
	case r.Has(RunFailed):
		return "FAILED"
	case !r.OK():
		return "NOT AS EXPECTED"
	case r.foreign != nil && holds:
		return ""
	case r.foreign != nil:
		return one + ", like Redlock"
	case holds:
		return "as expected"
	case r.Scenario.Recorded != nil:
		return one + ", as the search found"
	case isPublished(r.Scenario):
		return one + ", as published"
	}
	return one + ", as expected"
}
