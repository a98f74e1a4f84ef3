package scenarios

import (
	"redlocksim/faults"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
)

// Leak is the key of a lock, or of the line of those who wait for one, without a time to live, found when the run was over:
// nobody will ever remove it.
type Leak struct{ Key, Node string }

func (l Leak) String() string { return l.Key + " on " + l.Node }

// leaks scans the nodes that are up. Only locks and their lines count: a protocol's counters and records may be there to stay,
// and what a fault has put in the place of a lock is none.
func leaks(w *sim.World) []Leak {
	var found []Leak
	for _, s := range append(w.Servers[:len(w.Servers):len(w.Servers)], w.Replicas...) {
		for _, r := range s.Dump() {
			_, is := w.LockOf(r.Key)
			if r.ExpiresAt == 0 && (is || driver.IsLineKey(r.Key)) && !faults.IsOverwritten(r) {
				found = append(found, Leak{r.Key, s.Name()})
			}
		}
	}
	return found
}
