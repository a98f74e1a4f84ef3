package scenarios

import (
	"slices"
	"strings"

	"redlocksim/faults"
	"redlocksim/sim"
)

// Leak is a lock key without a time to live, found when the run was over: nobody will ever remove it.
type Leak struct{ Key, Node string }

func (l Leak) String() string { return l.Key + " on " + l.Node }

// leaks scans the nodes that are up. Only the locks themselves count: a protocol's counters and records may be there to
// stay, and what a fault has put in the place of a lock is none.
func leaks(w *sim.World) []Leak {
	var found []Leak
	for _, s := range append(w.Servers[:len(w.Servers):len(w.Servers)], w.Replicas...) {
		for _, r := range s.Dump() {
			if _, is := w.LockOf(r.Key); r.ExpiresAt == 0 && is && !faults.IsOverwritten(r) {
				found = append(found, Leak{r.Key, s.Name()})
			}
		}
	}
	return found
}

// leaked is the keys among leaks, each once, in order.
func leaked(leaks []Leak) []string {
	var keys []string
	for _, l := range leaks {
		if !slices.Contains(keys, l.Key) {
			keys = append(keys, l.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// leaking is how verdicts say which keys are leaked; empty if none are.
func leaking(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return ", leaks " + strings.Join(keys, " and ")
}
