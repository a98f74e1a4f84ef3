package sim

import (
	"context"
	"io"
	"time"

	"redlocksim/redlock/driver"
)

// Process is something with a clock of its own that can be paused and crash: a client, a Redis node, the storage.
type Process struct {
	k      *Kernel
	number int32
	name   string
	clock  *Clock

	lockClock ClockKind // the clock that the process measures validity with

	stuck    bool
	paused   bool
	dead     bool
	deferred []deferred // what happened to it while it was paused, in order

	stream  stream // what randomness a task is given when it starts
	request Key    // what the requests are for that a task started now will write
}

// deferred is an event, or a task that was about to go on, of a paused process.
type deferred struct {
	handler handler
	arg     int
	task    *task
	label   label
}

func (d deferred) fire(int) {
	if d.task != nil {
		d.task.k.resume(d.task)
		return
	}
	d.handler.fire(d.arg)
}

func (k *Kernel) newProcess(name string) *Process {
	p := &Process{k: k, number: int32(len(k.names)), name: name, clock: newClock(k)}
	p.stream = stream{key: k.Draw("process").WithString(name)}
	k.names = append(k.names, name)
	return p
}

// Name is the process's name.
func (p *Process) Name() string { return p.name }

// Clock is the process's clocks.
func (p *Process) Clock() *Clock { return p.clock }

// Now is true time. It is for the nodes' books, not for anything that a process does.
func (p *Process) Now() True { return p.k.now }

// Paused and Dead say what state the process is in.
func (p *Process) Paused() bool { return p.paused }
func (p *Process) Dead() bool   { return p.dead }

// admits says whether the process can take an event now. A dead one never does; a paused one takes it when it resumes.
func (p *Process) admits(d deferred) bool {
	if p.dead {
		return false
	}
	if p.paused {
		p.deferred = append(p.deferred, d)
		return false
	}
	return true
}

// Pause stops the process where it is, as SIGSTOP or a long garbage collection does: its clocks go on, its messages
// wait in its socket buffers, its timers are late. A task that calls it for its own process stops at once.
func (p *Process) Pause() {
	p.paused = true
	p.k.look()
}

// Suspend pauses the process together with its machine, whose monotonic clock stands still meanwhile.
func (p *Process) Suspend() {
	p.paused = true
	p.clock.suspend()
	p.k.look()
}

// Resume lets a paused or suspended process go on. What happened to it meanwhile happens now, in order.
func (p *Process) Resume() {
	if !p.paused || p.dead {
		return
	}
	p.paused = false
	p.clock.wake()
	for _, d := range p.deferred {
		l := d.label
		if d.task != nil {
			l.kind = StepResume
		}
		p.k.schedule(p.k.now, resumed, p, l, d, 0)
	}
	p.deferred = nil
	p.k.look()
}

// Crash ends the process for good. Its clock goes on for those who ask.
func (p *Process) Crash() {
	p.dead = true
	p.paused = false
	if p.k.recorder != nil {
		p.k.recorder.dropped(p.deferred, lostToCrash)
	}
	p.deferred = nil
	p.k.look()
}

// GetStuck has the process's work go on without an end: programs that work under a lock must ask Stuck before they stop.
func (p *Process) GetStuck() { p.stuck = true }

// Stuck says that the process's work does not end.
func (p *Process) Stuck() bool { return p.stuck }

// Settle stops the running program of the process here if the process has been paused or has crashed: what a program
// must call after anything that may have done that to it. Tasks of the library stop where they wait next.
func (p *Process) Settle() {
	t := p.k.current
	if t == nil || !t.program || t.process != p || !p.paused && !p.dead {
		return
	}
	p.admits(deferred{task: t, label: t.label()})
	p.k.park()
}

// Go runs a program of the process as a coroutine, from the next step on.
func (p *Process) Go(program func()) {
	p.k.schedule(p.k.now, ordinary, p, label{kind: StepWake, from: p.number}, action(func() { p.k.start(p, true, program) }), 0)
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
		t.stream = stream{key: purpose}
	}
}

// Rand is the process's source of random bytes. They depend on the seed and on Purpose, and on nothing else.
func (p *Process) Rand() io.Reader { return processRand{p} }

type processRand struct{ p *Process }

func (r processRand) Read(b []byte) (int, error) {
	if t := r.p.k.current; t != nil {
		return t.stream.Read(b)
	}
	return r.p.stream.Read(b)
}

// Runtime is what the shipped library runs on in the process.
func (p *Process) Runtime() driver.Runtime {
	return driver.Runtime{Clock: p.LockClock(), Tasks: p.Tasks(), Rand: p.Rand()}
}

// Tasks is the process's seam for goroutines: coroutines.
func (p *Process) Tasks() driver.Tasks { return processTasks{p} }

type processTasks struct{ p *Process }

func (t processTasks) Start(f func()) {
	if !t.p.dead {
		t.p.k.start(t.p, false, f)
	}
}

func (t processTasks) NewWaiter() driver.Waiter { return &waiter{process: t.p} }

// Requesting runs f, and has the tasks that f starts say that what they write to the network is for key.
func (p *Process) Requesting(key Key, f func()) {
	before := p.request
	p.request = key
	f()
	p.request = before
}

// RequestingHere is Requesting for the running program itself.
func (p *Process) RequestingHere(key Key, f func()) {
	t := p.k.current
	before, sent := t.request, t.sent
	t.request, t.sent = key, 0
	f()
	t.request, t.sent = before, sent
}

// Request is what the next message that the running task writes to the network is for; see Requesting. One that begins
// with the source of a script, and one that follows another, is told from that other.
func (p *Process) Request(withSource bool) Key {
	t := p.k.current
	if t == nil {
		return 0
	}
	if withSource || t.sent > 0 {
		t.request = t.request.With(1)
	}
	t.sent++
	return t.request
}
