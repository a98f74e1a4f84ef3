package redlock

import (
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// lateClock runs its timers late, as after a pause of the process; negative: early.
type lateClock struct {
	driver.Clock
	late time.Duration
}

func (c lateClock) AfterFunc(d time.Duration, f func()) driver.Timer {
	return c.Clock.AfterFunc(d+c.late, f)
}

// firedClock counts the timers that fire.
type firedClock struct {
	driver.Clock
	fired *atomic.Int32
}

func (c firedClock) AfterFunc(d time.Duration, f func()) driver.Timer {
	return c.Clock.AfterFunc(d, func() { c.fired.Add(1); f() })
}

// A lease ends at its time, not when its timer comes to say so.
func TestLeaseOverBeforeItsTimer(t *testing.T) {
	for _, c := range []struct {
		name, matches string
		at            time.Duration
		call          func(*world, *Lease) error
	}{
		{"extend just in time", "", millis("988") - 1, func(w *world, l *Lease) error { return l.Extend(w.Context(), time.Second) }},
		{"extend", "Lost", millis("988"), func(w *world, l *Lease) error { return l.Extend(w.Context(), time.Second) }},
		{"unlock just in time", "", millis("988") - 1, func(w *world, l *Lease) error { return l.Unlock(w.Context()) }},
		{"unlock", "Lost", millis("988"), func(w *world, l *Lease) error { return l.Unlock(w.Context()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				w.script(driver.OpAcquire, "now now now")
				w.script(driver.OpExtend, "now now now")
				lease := w.mustLock(time.Second)
				w.atTime(c.at)
				if err := c.call(w, lease); matches(err) != c.matches {
					w.Errorf("%v, want %q", err, c.matches)
				}
			}, WithRuntime(driver.Runtime{Clock: lateClock{driver.SystemClock(), millis("200")}}))
		})
	}
}

// A loss timer that comes early does not end the lease, and is set again.
func TestLossTimerComesEarly(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		<-lease.Context().Done()
		if w.at() != millis("938") {
			w.Errorf("context ended at %v", w.at())
		}
	}, WithRuntime(driver.Runtime{Clock: lateClock{driver.SystemClock(), -millis("10")}}))
}

// Whoever has what he waited for stops his timer.
func TestTimersAreStopped(t *testing.T) {
	var fired atomic.Int32
	in(t, 3, func(w *world) {
		for range 3 {
			lease := w.mustLock(time.Second)
			if err := lease.Extend(w.Context(), 2*time.Second); err != nil {
				w.Error(err)
			}
			if err := lease.Unlock(w.Context()); err != nil {
				w.Error(err)
			}
			w.atTime(w.at() + 3*time.Second)
		}
		if n := fired.Load(); n != 0 {
			w.Errorf("%d timers fired", n)
		}
	}, WithRuntime(driver.Runtime{Clock: firedClock{driver.SystemClock(), &fired}}))
}

// Nothing waits behind a batch any more when that is answered: the timer for what does is stopped.
func TestTimerOfBatchesIsStopped(t *testing.T) {
	var fired atomic.Int32
	in(t, 1, func(w *world) {
		l := &ledger{}
		c, err := New([]driver.Node{l}, WithBatching(1), WithRuntime(driver.Runtime{Clock: firedClock{driver.SystemClock(), &fired}}))
		if err != nil {
			t.Fatal(err)
		}
		w.Client = c
		w.ask(2, millis("1"))
		l.answer(0)
		time.Sleep(c.nodeTimeout / 4)
		if n := fired.Load(); n != 0 {
			w.Errorf("%d timers fired", n)
		}
	})
}

// readClock does something when it is read for the nth time from now.
type readClock struct {
	driver.Clock
	left atomic.Int32
	do   func()
}

func (c *readClock) atReading(n int, do func()) {
	c.do = do
	c.left.Store(int32(n))
}

func (c *readClock) Now() time.Time {
	if c.left.Add(-1) == 0 {
		c.do()
	}
	return c.Clock.Now()
}
