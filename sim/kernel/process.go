package kernel

import "redlocksim/sim/trace"

// Process is something with a clock of its own that can be paused and crash.
type Process struct {
	*machine
	k      *Kernel
	number int32
	name   string
	life   uint64    // how often it was started before, under this name
	reads  ClockKind // the clock that its code reads

	pace      pace
	stuck     bool
	drawn     int // how often the library in it has asked for random bytes
	armed     int // timers of its WorkClock
	paused    bool
	pausedAt  True
	dead      bool
	postponed []pending // what happened to it while it was paused, in order

	stream  stream // what randomness a task is given when it starts
	baggage Key    // what a task is given that starts now
}

// machine is what a process finds where it was before when it is restarted.
type machine struct {
	clock   *Clock
	starved int // how often over it has no random bytes
}

// NewProcess makes a process; reads is the clock that its code is given as ProgramClock.
func (k *Kernel) NewProcess(name string, reads ClockKind) *Process {
	p := &Process{k: k, name: name, reads: reads, machine: &machine{clock: newClock(&k.now, k.clockMoved)}}
	p.begin()
	return p
}

func (p *Process) begin() {
	p.number = int32(len(p.k.names))
	p.k.names = append(p.k.names, p.name)
	p.stream = stream{key: p.Draw("process")}
}

// StartAgain starts a process that has crashed again: another Process, of the same name and on the same machine, whose clocks
// have gone on. Nothing that the crashed one has set up or waits for reaches it.
func (p *Process) StartAgain() *Process {
	p.clock.wake()
	again := &Process{k: p.k, name: p.name, life: p.life + 1, reads: p.reads, machine: p.machine}
	again.begin()
	if p.pace.takes != nil {
		again.Takes(p.pace.takes)
	}
	return again
}

func (k *Kernel) clockMoved(c *Clock) {
	k.retime(c)
	trace.Tell(k.Events, ClockMoved{c})
}

// Name is the process's name.
func (p *Process) Name() string { return p.name }

// Clock is the process's clocks.
func (p *Process) Clock() *Clock { return p.clock }

// Now is true time. It is for the books that are kept about a process, not for anything that it does.
func (p *Process) Now() True { return p.k.now }

// Kernel is what the process runs on.
func (p *Process) Kernel() *Kernel { return p.k }

// Paused and Dead say what state the process is in.
func (p *Process) Paused() bool { return p.paused }
func (p *Process) Dead() bool   { return p.dead }

// RanUntil is now, or since when the process is paused.
func (p *Process) RanUntil() True {
	if p.paused {
		return p.pausedAt
	}
	return p.k.now
}

// runs says whether the process takes what happens to it.
func (p *Process) runs() bool { return !p.paused && !p.dead }

// postpone keeps what has come for a process that does not run until it resumes, or drops it if the process is dead.
func (p *Process) postpone(e pending) {
	if p.dead {
		e.Dropped()
		return
	}
	p.postponed = append(p.postponed, e)
}

// Postpone has h fire when the process resumes, which is paused or dead.
func (p *Process) Postpone(l Label, h Handler) { p.postpone(pending{handler: h, label: l}) }

// Schedule has h fire at a true time, as an event of the process: held up while that is paused, dropped once it is dead.
func (p *Process) Schedule(at True, l Label, h Handler) {
	p.k.schedule(at, ordinary, p, l, h, 0)
}

// LabelMessage is the label of the arrival of a message, with the key of what the message is for.
func LabelMessage(kind *StepKind, from, to *Process, of Key) Label {
	return Label{kind: kind, from: from.number, to: to.number, ref: uint64(of)}
}

// Pause stops the process where it is, as SIGSTOP or a long garbage collection does: its clocks go on, its messages wait in its
// socket buffers, its timers are late. Code that is running then goes on for a little: a program until its next Checkpoint, a
// task of the library until it waits, as it may hold a mutex. What that sends before then still leaves.
func (p *Process) Pause() {
	p.halt()
	p.changed()
}

func (p *Process) halt() {
	p.stops()
	if !p.paused {
		p.paused, p.pausedAt = true, p.k.now
	}
}

// Suspend pauses the process together with its machine, whose monotonic clock stands still meanwhile.
func (p *Process) Suspend() {
	p.halt()
	p.clock.suspend()
	p.changed()
}

// changed tells that the process is another than before.
func (p *Process) changed() { trace.Tell(p.k.Events, StateChanged{p}) }

// WakeClock has the monotonic clock of a process that was suspended go on; the process itself stays paused. It is for a pause
// that lasts longer than the suspension.
func (p *Process) WakeClock() {
	p.clock.wake()
	p.changed()
}

// Resume lets a paused or suspended process go on. What happened to it meanwhile happens now, in order.
func (p *Process) Resume() {
	if !p.paused || p.dead {
		return
	}
	p.paused = false
	p.clock.wake()
	p.goesOn()
	for _, e := range p.postponed {
		p.k.schedule(p.k.now, resumed, p, e.label, e, 0)
	}
	p.postponed = nil
	p.changed()
}

// Crash ends the process for good; see StartAgain. Its clock goes on for those who ask.
func (p *Process) Crash() {
	p.dead = true
	p.Reset()
	p.changed()
}

// Reset has the process begin anew: it is not paused, and what waited for it is dropped.
func (p *Process) Reset() {
	p.paused = false
	for _, e := range p.postponed {
		e.Dropped()
	}
	p.postponed = nil
}

// Hang has the process's work go on without an end: programs that work under a lock must ask Stuck before they stop.
func (p *Process) Hang() { p.stuck = true }

// Starve has what the process runs find no random bytes, until that is undone as often.
func (p *Process) Starve() (undo func()) {
	p.starved++
	p.changed()
	return func() {
		p.starved--
		p.changed()
	}
}

// Starved says that there are no random bytes.
func (p *Process) Starved() bool { return p.starved > 0 }

// Armed is how many timers of its WorkClock, and deadlines of contexts, are still to come.
func (p *Process) Armed() int { return p.armed }

// Stuck says that the process's work does not end.
func (p *Process) Stuck() bool { return p.stuck }
