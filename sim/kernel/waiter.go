package kernel

import (
	"context"

	"redlocksim/redlock/driver"
)

// waiter implements driver.Waiter.
type waiter struct {
	process *Process
	task    *task // who waits and has not been woken
	kept    bool  // a Wake that came while nobody waited
	works   bool  // who waits is code that takes time
}

var _ driver.Waiter = (*waiter)(nil)

func (w *waiter) Wait(ctx context.Context) {
	k := w.process.k
	if k.current == nil {
		panic("sim: Wait outside of a task")
	}
	if w.kept {
		w.kept = false
		return
	}
	c := lookup(ctx)
	if c != nil {
		if c.err != nil {
			return
		}
		c.waiters = append(c.waiters, w)
	}
	w.task = k.current
	k.park()
	if c != nil {
		c.forget(w)
	}
}

func (w *waiter) Wake() {
	if w.task == nil {
		w.kept = true
		return
	}
	w.release()
}

// release wakes whoever waits, without keeping the wake-up for later.
func (w *waiter) release() {
	if t := w.task; t != nil {
		w.task = nil
		if w.works {
			w.process.wakes(t)
		} else {
			w.process.k.ready = append(w.process.k.ready, t)
		}
	}
}
