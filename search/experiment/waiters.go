package experiment

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// waiters draws, for some runs, calls of one client that wait for one another or for another client: each for as long as it
// wants, most for the same resources and some for a part of them or for more. Now and then the client is closed while they
// wait.
func (s Space) waiters(x *scenarios.Scenario, c faults.Choices) []scenarios.Item {
	if c.For("are drawn", 0).Below(3) > 0 {
		return nil
	}
	who, at := faults.OneOf(c.For("client", 0), x.Clients...), s.instant(c.For("at", 0))
	w := s.worker(c.For("worker", 0))
	held := s.times.Length(c.For("held", 0), time.Millisecond, w.ttl)
	holder := scenarios.Item{When: faults.Trigger{At: at}, Client: who, Repeat: 1,
		Do: []scenarios.Step{w.lock(), step(scenarios.HoldStep, held), step(scenarios.UnlockStep, 0)}}
	if c.For("holder", 0).Below(3) == 0 {
		holder.Client = faults.OneOf(c.For("other", 0), x.Clients...)
	}
	s.place(c.For("resource", 0), &holder)
	items := []scenarios.Item{holder}
	for i := range 2 + int(c.For("number", 0).Below(4)) {
		of := c.For("waiter", i)
		begins := s.soonAfter(of.For("later", 0), at)
		item := waiter{w, at + held - begins.At}.item(of, holder.Resource)
		item.Client, item.When = who, begins
		items = append(items, item)
	}
	if w.can.Closes && c.For("closes", 0).Below(4) == 0 {
		items = append(items, scenarios.Item{When: s.soonAfter(c.For("closed", 0), at), Client: who, Repeat: 1, Do: w.another(c.For("another", 0))})
	}
	return items
}

// soonAfter draws a moment at which a lock that was asked for at another is probably held.
func (s Space) soonAfter(c faults.Choices, at time.Duration) faults.Trigger {
	return faults.Trigger{At: at + s.times.Length(c, 0, s.Base.Lock.TTL/4)}
}

// waiter draws a call that waits for a lock.
type waiter struct {
	*worker
	// released is how long after the call the lock is probably released.
	released time.Duration
}

// item draws the call, and what its client does when it is granted: little, so that the next has its turn.
func (w waiter) item(c faults.Choices, resource []string) scenarios.Item {
	item := scenarios.Item{Repeat: 1 + int(c.For("again", 0).Below(3))}
	if w.can.Renews && c.For("with-lock", 0).Below(8) == 0 {
		s := w.withLock(c.For("held", 0), w.hold)
		s.Wait = w.patience(c.For("wait", 0))
		item.Do = []scenarios.Step{s}
	} else {
		item.Do = []scenarios.Step{w.waits(c.For("waits", 0)), step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)}
	}
	if resource == nil || c.For("others", 0).Below(4) == 0 {
		w.space.place(c.For("resource", 0), &item)
	} else {
		w.space.lockOn(c.For("on", 0), &item, resource)
	}
	return item
}

// waits draws a call that waits for the lock until its deadline, until it is cancelled, or until it is granted; or one that
// does not wait, and may come before all that do.
func (w waiter) waits(c faults.Choices) scenarios.Step {
	s := w.lock()
	switch c.For("until", 0).Below(6) {
	case 0:
		return step(scenarios.TryLockStep, 0)
	case 1, 2:
		s.For = w.patience(c.For("deadline", 0))
	case 3, 4:
		if w.can.Cancels {
			after := w.patience(c.For("cancelled", 0))
			s.Cancel = &after
		}
	}
	s.TTL = w.shorter(c.For("ttl", 0))
	return s
}

// patience draws for how long a call waits: often until the lock is released, or a few messages longer, so that it gives up as
// its turn comes.
func (w waiter) patience(c faults.Choices) time.Duration {
	if w.released > 0 && c.For("meets", 0).Below(2) == 1 {
		return w.released + faults.Length(c.For("longer", 0), 0, 4*w.space.Base.Network.Latency.Max())
	}
	return w.space.times.Length(c.For("any", 0), time.Millisecond, w.ttl)
}
