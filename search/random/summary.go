package random

import (
	"slices"
	"time"

	"redlocksim/scenarios/reach"
	"redlocksim/search"
)

// Summary is what a search did and found so far.
type Summary struct {
	// Runs is how many experiments were run, without repetitions, self-checks and shrinking.
	Runs int `json:"runs"`
	// Worst is how many of them were worst schedules of the budget, which come first.
	Worst int `json:"worst_schedules,omitempty"`
	// Virtual is the true time that they simulated in all.
	Virtual time.Duration `json:"virtual_ns"`
	// Grants is how many locks were granted in all.
	Grants int `json:"grants"`
	// NotTested is how many runs had no contention, and show nothing.
	NotTested int `json:"not_tested"`
	// Beyond is how many exceeded the budget, and BeyondViolations how many of them violated only what that excuses.
	Beyond           int `json:"beyond"`
	BeyondViolations int `json:"beyond_violations"`
	// Violations is how many runs had a violation that counts: within the budget or one that no fault excuses, or any if the
	// search goes beyond it.
	Violations int `json:"violations"`
	// Repeated is how many runs were repeated and came out the same, and Canaries how often the known-broken lock was caught.
	Repeated int `json:"repeated"`
	// OnWire is how many runs were made on tier wire too, and came out the same.
	OnWire   int `json:"on_wire"`
	Canaries int `json:"canaries"`
	// Tally is what the runs reached.
	reach.Tally
	// Failures are the runs that could not be made or judged.
	search.Failures
	// Findings are the ways to break the lock that were found, shrunk.
	Findings search.Findings `json:"findings"`
	// Unshrunk is how many violations were dropped because too many were pending, or a run on the way to a smaller one failed.
	Unshrunk int `json:"unshrunk"`
	// Unfinished is how many runs of an unfinished generation had a violation that counts. Its runs are not counted above. The
	// violations that no finding explains are in the directory, as search.RawPattern; a resumed search finds them again.
	Unfinished int `json:"unfinished,omitempty"`
}

// clone is a deep copy.
func (s *Summary) clone() Summary {
	c := *s
	c.Findings, c.Tally, c.Failures.Failures = slices.Clone(c.Findings), c.Tally.Clone(), slices.Clone(c.Failures.Failures)
	return c
}

// add counts a run.
func (e *explorer) add(t *trial) {
	s := &e.Summary
	s.Runs++
	s.Worst = min(s.Runs, e.worst)
	if t.failed {
		return
	}
	s.Virtual += t.Duration
	s.Grants += t.Grants
	if isRepeated(s.Runs - 1) {
		s.Repeated++
	}
	if t.OnWire {
		s.OnWire++
	}
	if t.NotTested {
		s.NotTested++
	}
	if t.Beyond {
		s.Beyond++
	}
	switch {
	case len(counting(e.space, t)) > 0:
		s.Violations++
	case len(t.Kinds) > 0:
		s.BeyondViolations++
	}
	s.Tally.Add(t.Reached, t.Run)
}
