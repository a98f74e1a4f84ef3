//go:build linux

package client

import (
	"context"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// turn is held by the one part of a client process that runs.
type turn struct{ mu sync.Mutex }

// Enter and Leave implement protocols.Host.
func (t *turn) Enter() { t.mu.Lock() }
func (t *turn) Leave() { t.mu.Unlock() }

// turnTasks are goroutines that have the turn while they run. A new one runs first, until it waits, as in the simulator.
type turnTasks struct{ turn *turn }

func (t turnTasks) Start(f func()) {
	go func() { // with the turn of the one that starts it
		f()
		t.turn.Leave()
	}()
	t.turn.Enter()
}

func (t turnTasks) NewWaiter() driver.Waiter {
	return turnWaiter{driver.SystemTasks().NewWaiter(), t.turn}
}

// turnWaiter gives the turn up while it waits.
type turnWaiter struct {
	driver.Waiter
	turn *turn
}

func (w turnWaiter) Wait(ctx context.Context) {
	w.turn.Leave()
	w.Waiter.Wait(ctx)
	w.turn.Enter()
}

// turnClock is a clock whose timers run with the turn. Its callers must have it.
type turnClock struct {
	driver.Clock
	turn *turn
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
		t.clock.turn.Enter()
		defer t.clock.turn.Leave()
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
