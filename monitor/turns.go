package monitor

import "time"

// inTurn looks whether an acquire that is granted was served before another that waits in the same queue of its client, and
// came earlier.
func (x *needless) inTurn(a *ask) {
	if !x.queues || !a.Waits {
		return
	}
	for _, b := range x.open {
		if b == a {
			return
		}
		if b.queuesWith(a) && !b.isGivenUp() {
			a.tell(x.run, b.began, "%s is granted the lock on %s by a call from %v, while one from %v still waits for the same in this client",
				a.Client, and(quoted(a.Resources)), time.Duration(a.began), time.Duration(b.began))
			return
		}
	}
}
