package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
)

// told is a verdict for people.
type told struct {
	findings Findings
	// leaks are the keys without a time to live.
	leaks []string
	// isStuck: nobody is granted the lock any more, for as long as anybody looks.
	isStuck bool
	// isUntested: what was to be tested did not take place.
	isUntested bool
	// besides is what there is to say beside the words, as how long the lock could not be had; empty if there is nothing.
	besides string
}

// is says that the verdict has a word, and what stands behind it.
func (t *told) is(w checker.Word) (has bool, behind string) {
	var kinds []string
	for _, k := range t.findings {
		if k.Word() == w {
			kinds = append(kinds, string(k))
		}
	}
	if kinds != nil {
		behind = " (" + strings.Join(kinds, ", ") + ")"
	}
	switch {
	case w == checker.Stuck && t.isStuck:
		return true, behind
	case w == checker.Leaks && len(t.leaks) > 0:
		return true, " " + strings.Join(t.leaks, " and ") + behind
	case w == checker.Untested:
		return t.isUntested, ""
	}
	return kinds != nil, behind
}

func (t told) String() string {
	var all []string
	for _, w := range checker.Words() {
		has, behind := t.is(w)
		switch {
		case w == checker.Holds && all == nil:
			all = append(all, string(w)+behind)
		case w == checker.Holds && has: // an observation beside something worse
			all = append(all, strings.Trim(behind, " ()"))
		case has:
			all = append(all, string(w)+behind)
		}
	}
	if t.besides != "" {
		all = append(all, t.besides)
	}
	return strings.Join(all, ", ")
}

// breaks is the word for a lock of which two clients can make use at once, or that does not keep a promise.
const breaks = "breaks"

// worst is the first of its words.
func (t *told) worst() checker.Word {
	for _, w := range checker.Words() {
		if has, _ := t.is(w); has {
			return w
		}
	}
	return checker.Holds
}

// inOne is the verdict in one word.
func (t *told) inOne() string {
	switch w := t.worst(); w {
	case checker.TwoHolders, checker.LateWrite, checker.BreaksPromise:
		return breaks
	default:
		return string(w)
	}
}

// Says is what the findings come to, for people.
func (f Findings) Says() string { return told{findings: f}.String() }

// Says is the verdict that the file expects, for people.
func (s *Scenario) Says() string {
	t := s.told()
	return t.String()
}

// InOne is that verdict in one word: holds, breaks, stuck or leaks.
func (s *Scenario) InOne() string {
	t := s.told()
	return t.inOne()
}

func (s *Scenario) told() *told {
	e := &s.Expect
	u := e.Unavailable
	t := &told{findings: e.Findings, leaks: e.Leaks, isStuck: s.sticks() || u.isTheSubject() && len(e.Leaks) > 0}
	if least, most := rounded.Duration(u.AtLeast), rounded.Duration(u.AtMost); u.AtLeast > 0 {
		t.besides = fmt.Sprintf("unavailable for %v", least)
		if least != most {
			t.besides += fmt.Sprintf(" to %v", most)
		}
	}
	if s.Claim == Holds && slices.ContainsFunc(e.Findings, checker.Kind.Violation) {
		t.besides = strings.TrimPrefix(t.besides+", beyond the budget", ", ")
	}
	return t
}

// sticks says that the file expects that the lock cannot be had for as long as the run lasts, or nearly.
func (s *Scenario) sticks() bool {
	u := s.Expect.Unavailable
	return u.Unbounded || u.AtLeast*10 >= s.Duration*9
}

// isPublished says that it is a scenario of the catalogue, as it is there, of which somebody else has told.
func (s *Scenario) isPublished() bool {
	known, is := Find(s.Name)
	return is && known == s && !strings.HasPrefix(s.Source, "ourselves")
}

// Says is what the run showed, for people: the words of package checker with what is behind them, and how long the lock could
// not be had where that is what the scenario is about or what is wrong.
func (r *Result) Says() string {
	if r.Lost() {
		return r.Verdict()
	}
	t := r.told()
	return t.String()
}

// Worst is the worst of the words.
func (r *Result) Worst() checker.Word { return r.told().worst() }

// InOne is that in one word: holds, breaks, stuck, leaks or not tested.
func (r *Result) InOne() string {
	t := r.told()
	return t.inOne()
}

func (r *Result) told() *told {
	t := &told{findings: r.Findings, leaks: leaked(r.Leaks), isStuck: r.isStuck(), isUntested: len(r.NotTested) > 0 || r.Lost()}
	if !r.Unbounded && (r.Has(Liveness) || r.Scenario.Expect.Unavailable.isTheSubject()) {
		t.besides = fmt.Sprintf("unavailable for %v", rounded.Duration(r.Unavailable))
	}
	return t
}

// isStuck says that the lock could not be had to the end of the run, with a key in the way that never goes, or for as long
// as the file expects of a lock that is stuck.
func (r *Result) isStuck() bool {
	u := r.Measured().Unavailable
	return u.For > 0 && u.ToSeq == 0 && (len(r.Leaks) > 0 || r.Scenario.sticks())
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
	case r.Scenario.isPublished():
		return one + ", as published"
	}
	return one + ", as expected"
}
