package kernel

import (
	"context"
	"errors"
	"io"
	"time"

	"redlocksim/redlock/driver"
)

// Checkpoint stops the running program of the process here if the process has been paused or has crashed: what a program
// must call after anything that may have done that to it. Tasks of the library stop where they wait next.
func (p *Process) Checkpoint() {
	t := p.k.current
	if t == nil || !t.program || t.process != p || p.runs() {
		return
	}
	t.postpone()
	p.k.park()
}

// Go runs a program of the process as a coroutine, from the next step on.
func (p *Process) Go(program func()) {
	p.k.schedule(p.k.now, ordinary, p, Label{kind: stepWake, from: p.number}, action(func() { p.k.start(p, true, program) }), 0)
}

// Sleep lets the running program wait until its monotonic clock has advanced by d, or ctx ends.
func (p *Process) Sleep(ctx context.Context, d time.Duration) {
	w := &waiter{process: p}
	t := p.after(d, w.Wake)
	w.Wait(ctx)
	t.Stop()
}

// Purpose sets what the running program draws random bytes for, until it is set again.
func (p *Process) Purpose(purpose Key) {
	if t := p.k.current; t != nil {
		t.stream, t.steps = stream{key: purpose}, 0
	}
}

// Rand is the process's source of random bytes, which never fails. They depend on the seed and on Purpose, and on nothing else.
func (p *Process) Rand() io.Reader { return processRand{p, false} }

type processRand struct {
	p *Process
	// ofRuntime: its readings count, and fail while the process is starved.
	ofRuntime bool
}

// errStarved is the error of getrandom in a sandbox that forbids it.
var errStarved = errors.New("getrandom: operation not permitted")

func (r processRand) Read(b []byte) (int, error) {
	if r.ofRuntime {
		if r.p.drawn++; r.p.Starved() {
			return 0, errStarved
		}
	}
	if t := r.p.k.current; t != nil {
		return t.stream.Read(b)
	}
	return r.p.stream.Read(b)
}

// Drawn is how often the process has asked for random bytes of its Runtime.
func (p *Process) Drawn() int { return p.drawn }

// Runtime is what the shipped library runs on in the process. Its random bytes fail while the process is starved.
func (p *Process) Runtime() driver.Runtime {
	return driver.Runtime{Clock: p.ProgramClock(), Tasks: p.Tasks(), Rand: processRand{p, true}}
}

// Tasks is the process's seam for goroutines: coroutines.
func (p *Process) Tasks() driver.Tasks { return processTasks{p, false} }

// WorkTasks is Tasks for code that takes time.
func (p *Process) WorkTasks() driver.Tasks { return processTasks{p, true} }

type processTasks struct {
	p     *Process
	works bool
}

func (t processTasks) Start(f func()) {
	if !t.p.dead {
		t.p.k.start(t.p, false, f)
	}
}

func (t processTasks) NewWaiter() driver.Waiter { return &waiter{process: t.p, works: t.works} }

// WithBaggage runs f, and has the tasks that f starts carry key.
func (p *Process) WithBaggage(key Key, f func()) {
	before := p.baggage
	p.baggage = key
	f()
	p.baggage = before
}

// WithBaggageHere is WithBaggage for the running program itself.
func (p *Process) WithBaggageHere(key Key, f func()) {
	t := p.k.current
	before := t.baggage
	t.baggage = Baggage{Key: key}
	f()
	t.baggage = before
}

// Baggage is what the running task carries; nil if none runs.
func (p *Process) Baggage() *Baggage {
	if t := p.k.current; t != nil {
		return &t.baggage
	}
	return nil
}
