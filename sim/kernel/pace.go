package kernel

import (
	"time"

	"redlocksim/redlock/driver"
)

// pace is the time that the code of a process takes. It cannot wait for that: it reads clocks while it holds mutexes. So the
// process is ahead of the run, until that catches up: its readings of clocks and what it sends are as late as they would be if
// it had waited, and what happens to it meanwhile it does not notice before.
type pace struct {
	takes   func(Key) time.Duration // nil: no time at all
	key     Key
	ahead   True // until when the process has gone ahead
	stopped True // when it was paused

	// The steps outside of programs are told apart by their moment.
	moment True
	steps  uint64
	latest [WallClock]int64 // readings of the clocks that never go back
	ticks  bool             // its readings take time
}

// Takes has the code of the process take time from now on: what takes says of a key for each of its steps. A step ends with a
// reading of its WorkClock, or with a message, and it is one from where a task is woken to where it goes on.
func (p *Process) Takes(takes func(Key) time.Duration) {
	p.pace.takes, p.pace.key = takes, p.Draw("step")
}

// WorkClock is ProgramClock for code that takes time.
func (p *Process) WorkClock() driver.Clock { return programClock{p, p.reads, true} }

// at is the true time to which the process has come.
func (p *Process) at() True { return max(p.k.now, p.pace.ahead) }

// Sends is the true time at which a message leaves that the process sends now, after the step that key stands for.
func (p *Process) Sends(key Key) True {
	p.step(key)
	return p.at()
}

// Mono is what the code of the process reads on its monotonic clock.
func (p *Process) Mono() Mono { return Mono(p.read(Monotonic)) }

func (p *Process) step(key Key) {
	if p.pace.takes != nil {
		p.pace.ahead = p.at().Add(p.pace.takes(key))
	}
}

// wakes lets a task go on that was woken: where code takes time after a step, as a goroutine that has to be scheduled. What
// else happens to the process meanwhile comes before it.
func (p *Process) wakes(t *task) {
	if p.pace.takes == nil {
		p.k.ready = append(p.k.ready, t)
		return
	}
	at := p.k.now.Add(p.pace.takes(p.stepNow().WithString("wake")))
	p.k.schedule(at, ordinary, p, Label{kind: stepWake, from: p.number}, t, 0)
}

// nextStep is the key of a step that ends with a reading: of a program the number-th since it got its purpose.
func (p *Process) nextStep() Key {
	x := &p.pace
	if t := p.k.current; t != nil && t.program {
		t.steps++
		return x.key.With(uint64(t.stream.key)).With(t.steps)
	}
	return p.stepNow()
}

// stepNow is the key of a step that is told apart by its moment.
func (p *Process) stepNow() Key {
	x := &p.pace
	if x.moment != p.k.now {
		x.moment, x.steps = p.k.now, 0
	}
	x.steps++
	return x.key.With(uint64(x.moment)).With(x.steps)
}

// read is what the code of the process reads on one of its clocks.
func (p *Process) read(kind ClockKind) int64 {
	reading := p.clock.readAt(kind, p.at())
	if p.pace.takes == nil && !p.pace.ticks || kind == WallClock {
		return reading
	}
	// A rate can change before the run has come to where the process is.
	p.pace.latest[kind] = max(p.pace.latest[kind], reading)
	return p.pace.latest[kind]
}

// Reads is what code reads on one of the clocks of the process that knows nothing of the simulator, in nanoseconds since the
// clock's own epoch. A reading takes a nanosecond: code that reads a clock until it has advanced comes to an end.
func (p *Process) Reads(kind ClockKind) int64 {
	p.pace.ticks = true
	p.pace.ahead = p.at().Add(time.Nanosecond)
	return p.read(kind)
}

// stops and goesOn have the time that the code has still to take pass after a pause: the rest of a step that it was in when the
// pause began, and the steps that it took from there until it waited.
func (p *Process) stops() {
	if !p.paused {
		p.pace.stopped = p.k.now
	}
}

func (p *Process) goesOn() {
	if left := p.pace.ahead.Sub(p.pace.stopped); left > 0 {
		p.pace.ahead = p.k.now.Add(left)
	}
}
