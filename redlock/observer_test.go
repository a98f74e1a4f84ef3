package redlock

import (
	"context"
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

// The answers to the last release are reported once when the context of Lock ends during the delay.
func TestAnswersAreReportedOnce(t *testing.T) {
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.hold("r", time.Minute)
		}
		ctx, cancel := context.WithTimeout(w.Context(), millis("8"))
		defer cancel()
		w.Lock(ctx, "r", time.Second)
		w.atTime(millis("100"))
		w.transcript(`
			0s attempt-started 1
			2ms node-answered A held by another [acquire]
			2ms node-answered B held by another [acquire]
			2ms quorum-lost 0 of 2 [acquire]: held by another
			2ms denied [acquire]: redlock: acquire "r": held by another (A held by another; B held by another; C unanswered)
			2ms retrying in 10ms [acquire]: held by another
			3ms node-answered C held by another, late [acquire]
			4ms node-answered A not ours any more [release]
			4ms node-answered B not ours any more [release]
			5ms node-answered C not ours any more, late [release]
			8ms gave-up [acquire]: redlock: acquire "r": held by another: context deadline exceeded (A held by another; B held by another; C unanswered)`)
	})
}

// A vote that comes after the decision, but before there is a lease, joins the lease as soon as there is one.
func TestVotesThatComeWhileTheLeaseIsMadeJoinIt(t *testing.T) {
	var tell observe.Observer
	in(t, 3, func(w *world) {
		tell = w
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:3")
		w.mustLock(time.Second)
		w.transcript(`
			0s attempt-started 1
			2ms node-answered A granted [acquire]
			2ms node-answered B granted [acquire]
			2ms quorum-reached 2 of 2 [acquire]
			3ms node-answered C granted, late [acquire]
			4ms validity-computed 984ms until 988ms [acquire]
			4ms granted 984ms until 988ms [acquire]
			4ms joined C granted [acquire]`)
	}, WithObserver(atStep(func(e observe.Event) {
		tell.Observe(t.Context(), e)
		if e.Step == observe.QuorumReached {
			time.Sleep(millis("2"))
		}
	})))
}

// An observer may keep the error of an event.
func TestDeniedErrorStaysAsItWas(t *testing.T) {
	var denied error
	var then string
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.hold("r", time.Minute)
		}
		ctx, cancel := context.WithTimeout(w.Context(), millis("8"))
		defer cancel()
		w.Lock(ctx, "r", time.Second)
		if denied.Error() != then {
			w.Errorf("the event's error was\n%s\nand is\n%v", then, denied)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.Denied {
			denied, then = e.Err, e.Err.Error()
		}
	})))
}

// Answers that come after the decision but before the caller runs on are counted with it: the error and the events
