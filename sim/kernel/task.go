package kernel

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"

	"redlocksim/redlock/driver"
)

// task is a coroutine of a process. It runs until it waits, and nothing else runs meanwhile.
type task struct {
	k       *Kernel
	process *Process
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	body    func()
	stream  stream // the randomness of what it is doing
	program bool   // a client's program rather than a task of the library or its adapter
	baggage Baggage
}

func (t *task) label() Label { return Label{kind: stepWake, from: t.process.number} }

// Fire lets a task go on that was about to when its process was paused.
func (t *task) Fire(int) { t.k.resume(t) }

// start runs body as a coroutine of p, at once, until it waits for the first time.
func (k *Kernel) start(p *Process, program bool, body func()) {
	if k.closed {
		return
	}
	var t *task
	if n := len(k.idle); n > 0 {
		t, k.idle = k.idle[n-1], k.idle[:n-1]
	} else if limit := k.limits.Goroutines; len(k.tasks) >= limit {
		k.Exceed("goroutines at once", limit)
		return
	} else {
		t = &task{k: k}
		t.next, t.stop = iter.Pull(t.loop)
		k.tasks = append(k.tasks, t)
	}
	t.process, t.body, t.program, t.stream, t.baggage = p, body, program, p.stream, Baggage{Key: p.baggage}
	k.resume(t)
}

func (t *task) loop(yield func(struct{}) bool) {
	t.yield = yield
	for {
		if !t.run() {
			return
		}
		t.k.idle = append(t.k.idle, t)
		if !yield(struct{}{}) {
			return
		}
	}
}

// unwinding is what a coroutine panics with when the run is over.
type unwinding struct{}

// Panic is what Run panics with when the code of a process does.
type Panic struct {
	Process string
	At      True
	Step    int
	Value   any
	Stack   []byte
}

func (p *Panic) Error() string {
	return fmt.Sprintf("sim: %s panics at step %d, %.6fs: %v", p.Process, p.Step, float64(p.At)/1e9, p.Value)
}

func (t *task) run() (goOn bool) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
			goOn = true
		case unwinding:
		case *Panic: // of a task that this one started
			if !t.k.closed {
				panic(v)
			}
		default:
			if !t.k.closed {
				panic(&Panic{Process: t.process.name, At: t.k.now, Step: t.k.steps, Value: v, Stack: debug.Stack()})
			}
		}
	}()
	t.body()
	return
}

func (k *Kernel) resume(t *task) {
	caller := k.current
	k.current = t
	t.next()
	k.current = caller
}

// park gives up control until the task is resumed.
func (k *Kernel) park() {
	t := k.current
	if k.closed || !t.yield(struct{}{}) {
		panic(unwinding{})
	}
}

// waiter implements driver.Waiter.
type waiter struct {
	process *Process
	task    *task // who waits and has not been woken
	kept    bool  // a Wake that came while nobody waited
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
		w.process.k.ready = append(w.process.k.ready, t)
	}
}
