//go:build linux

package live

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
)

// turnTasks are goroutines that have the turn while they run. A new one runs first, until it waits, as in the simulator.
type turnTasks struct{ host *host }

func (t turnTasks) Start(f func()) {
	go func() { // with the turn of the one that starts it
		f()
		t.host.Leave()
	}()
	t.host.Enter()
}

func (t turnTasks) NewWaiter() driver.Waiter {
	return turnWaiter{driver.SystemTasks().NewWaiter(), t.host}
}

// turnWaiter gives the turn up while it waits.
type turnWaiter struct {
	driver.Waiter
	host *host
}

func (w turnWaiter) Wait(ctx context.Context) {
	w.host.Leave()
	w.Waiter.Wait(ctx)
	w.host.Enter()
}

// turnClock is a clock whose timers run with the turn. Its callers must have it.
type turnClock struct {
	driver.Clock
	host *host
}

func (c turnClock) AfterFunc(d time.Duration, f func()) driver.Timer {
	t := &turnTimer{clock: c, f: f}
	t.Reset(d)
	return t
}

// turnTimer is a timer whose Stop is final, even for a call that just waits for the turn.
type turnTimer struct {
	clock turnClock
	f     func()
	timer driver.Timer
	isSet bool
	round int // counts the times it was set
}

func (t *turnTimer) Reset(d time.Duration) {
	t.Stop()
	t.isSet = true
	t.round++
	round := t.round
	t.timer = t.clock.Clock.AfterFunc(d, func() {
		t.clock.host.Enter()
		defer t.clock.host.Leave()
		if t.isSet && t.round == round {
			t.isSet = false
			t.f()
		}
	})
}

func (t *turnTimer) Stop() bool {
	was := t.isSet
	t.isSet = false
	if t.timer != nil {
		t.timer.Stop()
	}
	return was
}
