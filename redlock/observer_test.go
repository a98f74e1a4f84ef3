package redlock

import (
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// An observer may use the lease it is told of, at every step: it is called with no lock held.
func TestObserverMayCall(t *testing.T) {
	var current atomic.Pointer[Lease]
	var seen [observe.Yielding + 1]atomic.Bool
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:30")
		lease := w.mustLock(time.Second)
		current.Store(lease)
		w.atTime(millis("40")) // the vote of C joins
		if err := lease.Extend(w.Context(), time.Second); err != nil {
			w.Error(err)
		}
		w.atTime(2 * time.Second) // lost
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:30")
		lease = w.mustLock(time.Second)
		current.Store(lease)
		lease.Unlock(w.Context()) // the vote of C is taken back
		w.atTime(3 * time.Second)
		for _, s := range []observe.Step{observe.NodeAnswered, observe.Granted, observe.Joined, observe.Extended, observe.Lost, observe.ReleaseStarted, observe.Released, observe.TakenBack} {
			if !seen[s].Load() {
				w.Errorf("no %v", s)
			}
		}
	}, WithObserver(atStep(func(e observe.Event) {
		seen[e.Step].Store(true)
		if lease := current.Load(); lease != nil {
			lease.Until()
		}
	})))
}
