package redlock

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// The lock as a reader of a log sees it: node i takes i+1 ms to answer.
func TestTranscripts(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *world)
		want string
	}{
		{"lock and unlock", func(w *world) {
			lease := w.mustLock(time.Second)
			w.atTime(millis("100"))
			w.say("unlock")
			w.say("%v", lease.Unlock(w.Context()))
			w.atTime(millis("200"))
		}, `
			0s attempt-started 1
			3ms node-answered A granted [acquire]
			3ms node-answered B granted [acquire]
			3ms node-answered C granted [acquire]
			3ms quorum-reached 3 of 3 [acquire]
			3ms validity-computed 985ms until 988ms [acquire]
			3ms granted 985ms until 988ms [acquire]
			4ms node-answered D granted, late [acquire]
			4ms joined D granted [acquire]
			5ms node-answered E granted, late [acquire]
			5ms joined E granted [acquire]
			100ms unlock
			100ms release-started
			103ms node-answered A released [release]
			103ms node-answered B released [release]
			103ms node-answered C released [release]
			103ms released 3 of 3 [release]
			103ms <nil>
			104ms node-answered D released, late [release]
			105ms node-answered E released, late [release]`},
		{"denied", func(w *world) {
			w.node(0).hold("r", time.Minute)
			w.node(1).hold("r", time.Minute)
			w.node(3).hold("r", time.Minute)
			w.script(driver.OpRelease, "ok:2 ok:3 ok:4 ok:5 ok:6")
			_, err := w.TryLock(w.Context(), "r", time.Second)
			w.say("%v", err)
			w.atTime(millis("100"))
		}, `
			0s attempt-started 1
			4ms node-answered A held by another [acquire]
			4ms node-answered B held by another [acquire]
			4ms node-answered C granted [acquire]
			4ms node-answered D held by another [acquire]
			4ms quorum-lost 1 of 3 [acquire]: held by another
			4ms denied [acquire]: redlock: acquire "r": held by another (A held by another; B held by another; C granted; D held by another; E unanswered)
			4ms gave-up [acquire]: redlock: acquire "r": held by another (A held by another; B held by another; C granted; D held by another; E unanswered)
			4ms redlock: acquire "r": held by another (A held by another; B held by another; C granted; D held by another; E unanswered)
			5ms node-answered E granted, late [acquire]
			6ms node-answered A not ours any more, late [release]
			7ms node-answered B not ours any more, late [release]
			8ms node-answered C released, late [release]
			9ms node-answered D not ours any more, late [release]
			10ms node-answered E released, late [release]`},
		{"no quorum, then a retry that succeeds", func(w *world) {
			w.script(driver.OpAcquire, "refused:1 refused:2 ok:3 ok:4 refused:5")
			lease, err := w.Lock(w.Context(), "r", time.Second)
			w.say("attempt %d, %v", lease.acquisition.attempt, err)
			w.atTime(millis("100"))
		}, `
			0s attempt-started 1
			5ms node-answered A refused [acquire]
			5ms node-answered B refused [acquire]
			5ms node-answered C granted [acquire]
			5ms node-answered D granted [acquire]
			5ms node-answered E refused [acquire]
			5ms quorum-lost 2 of 3 [acquire]: no quorum of nodes
			5ms denied [acquire]: redlock: acquire "r": no quorum of nodes (A refused: scripted; B refused: scripted; C granted; D granted; E refused: scripted)
			5ms retrying in 10ms [acquire]: no quorum of nodes
			9ms node-answered A not ours any more [release]
			9ms node-answered B not ours any more [release]
			9ms node-answered C released [release]
			9ms node-answered D released [release]
			10ms node-answered E not ours any more, late [release]
			15ms attempt-started 2
			18ms node-answered A granted [acquire]
			18ms node-answered B granted [acquire]
			18ms node-answered C granted [acquire]
			18ms quorum-reached 3 of 3 [acquire]
			18ms validity-computed 985ms until 1.003s [acquire]
			18ms granted 985ms until 1.003s [acquire]
			18ms attempt 2, <nil>
			19ms node-answered D granted, late [acquire]
			19ms joined D granted [acquire]
			20ms node-answered E granted, late [acquire]
			20ms joined E granted [acquire]`},
		{"a vote taken back", func(w *world) {
			w.script(driver.OpAcquire, "no no no no ok:30")
			w.TryLock(w.Context(), "r", time.Second)
			w.atTime(millis("10"))
			w.hush()
			w.atTime(millis("100"))
		}, `
			30ms node-answered E granted, late [acquire]
			30ms taken-back E [release]
			35ms node-answered E released, late [release]`},
		{"extended, then lost", func(w *world) {
			lease := w.mustLock(time.Second)
			w.atTime(millis("500"))
			w.hush()
			w.say("extend")
			w.say("%v", lease.Extend(w.Context(), time.Second))
			w.atTime(millis("510"))
			w.script(driver.OpExtend, "no no no no no")
			w.say("extend")
			w.say("%v", lease.Extend(w.Context(), time.Second))
			w.atTime(2 * time.Second)
		}, `
			500ms extend
			500ms extend-started
			503ms node-answered A extended [extend]
			503ms node-answered B extended [extend]
			503ms node-answered C extended [extend]
			503ms quorum-reached 3 of 3 [extend]
			503ms validity-computed 985ms until 1.488s [extend]
			503ms extended 985ms until 1.488s [extend]
			503ms <nil>
			504ms node-answered D extended, late [extend]
			505ms node-answered E extended, late [extend]
			510ms extend
			510ms extend-started
			513ms node-answered A not ours any more [extend]
			513ms node-answered B not ours any more [extend]
			513ms node-answered C not ours any more [extend]
			513ms quorum-lost 0 of 3 [extend]: lease lost
			513ms not-extended [extend]: redlock: extend "r": lease lost (A not ours any more; B not ours any more; C not ours any more; D unanswered; E unanswered)
			513ms lost until 1.488s
			513ms redlock: extend "r": lease lost (A not ours any more; B not ours any more; C not ours any more; D unanswered; E unanswered)
			514ms node-answered D not ours any more, late [extend]
			515ms node-answered E not ours any more, late [extend]`},
		{"too late", func(w *world) {
			w.script(driver.OpAcquire, "ok:1 ok:2 ok:19 lost lost")
			w.TryLock(w.Context(), "r", millis("20"))
		}, `
			0s attempt-started 1
			19ms node-answered A granted [acquire]
			19ms node-answered B granted [acquire]
			19ms node-answered C granted [acquire]
			19ms quorum-reached 3 of 3 [acquire]
			19ms validity-computed -1.2ms until 17.8ms [acquire]
			19ms denied [acquire]: redlock: acquire "r": quorum came too late, no validity left (A granted; B granted; C granted; D unanswered; E unanswered)
			19ms gave-up [acquire]: redlock: acquire "r": quorum came too late, no validity left (A granted; B granted; C granted; D unanswered; E unanswered)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				c.run(w)
				w.transcript(c.want)
			})
		})
	}
}

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
