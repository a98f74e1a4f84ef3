package verdict

import (
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/sim/storage"
)

// unproven is why a run says nothing of the check that the resource is declared to make: it compared nothing that two holders
// sent. Empty if it did, if a late write broke through, or if anything was found that no lock should show.
//
// Of somebody's lock in a scenario for others that is only asked where the resource refused what it could not have accepted:
// the rest of the scenario says something about that lock, too.
func (r *Result) unproven() string {
	s := r.Scenario
	c := &r.Report.Compared
	if slices.ContainsFunc(r.Findings, checker.Kind.Defect) {
		return ""
	}
	if s.Storage == storage.Register || c.Fenced > 0 || c.LateWrites > 0 || r.foreign != nil && c.Unmarked == 0 {
		return ""
	}
	needs := s.Storage.Needs()
	resource := fmt.Sprintf("the resource (storage: %v)", s.Storage)
	switch {
	case c.Unmarked > 0 && c.Expiries == 0:
		return fmt.Sprintf("%s refused every write, %d in all, because none carried a %s%s: nothing was written, so that no write could be stale and no update lost",
			resource, c.Unmarked, needs, r.whence())
	case c.Unmarked > 0:
		return fmt.Sprintf("%s refused %s without a %s, and compared none of two clients: no write of another could be stale there",
			resource, plural.Count(c.Unmarked, "write"), needs)
	case c.Expiries > 0 && c.Rightful == 0:
		return fmt.Sprintf("%s accepted %s and compared nothing, because none carried a %s%s", resource, plural.Count(c.Expiries, "write"), needs, r.whence())
	case c.Rightful > 0:
		return resource + " was reached by one holder only, so that it had nothing to compare"
	}
	return resource + " was reached by no request that it looks at, so that it protected nothing"
}

// whence says where what the resource looks at would come from, of a lock that has none.
func (r *Result) whence() string {
	s := r.Scenario
	switch {
	case s.Storage == storage.CompareAndSet:
		return ", which the step mark sets"
	case s.Storage == storage.Versioned:
		return ", which the steps update and read learn"
	case r.foreign != nil:
		return ": the lock gives none"
	case !s.Lock.Capabilities().Tokens:
		return fmt.Sprintf(": the lock (protocol %s) gives none", s.Lock.Protocol)
	}
	return ""
}
