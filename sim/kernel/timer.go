package kernel

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
)

// ProgramClock is the process's seam for time: the clock that its code reads. Timers run on the monotonic clock in all
// cases, as Go's do.
func (p *Process) ProgramClock() driver.Clock { return programClock{p, p.reads, false} }

type programClock struct {
	p     *Process
	kind  ClockKind
	works bool // a step comes before each reading
}

func (c programClock) Now() time.Time {
	if c.works && c.p.pace.takes != nil {
		c.p.step(c.p.nextStep())
	}
	return c.reading()
}

func (c programClock) reading() time.Time { return time.Unix(0, c.p.read(c.kind)) }

func (c programClock) AfterFunc(d time.Duration, f func()) driver.Timer { return c.after(d, f) }

func (c programClock) after(d time.Duration, f func()) *timer {
	t := &timer{p: c.p, f: f, counts: c.works}
	t.Reset(d)
	return t
}

func (c programClock) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	ctx := newContext(parent)
	return ctx, func(cause error) { ctx.end(context.Canceled, cause) }
}

func (c programClock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	ctx := newContext(parent)
	if d, ok := parent.Deadline(); !ok || t.Before(d) {
		ctx.deadline = t
		expire := func() { ctx.end(context.DeadlineExceeded, nil) }
		if left := t.Sub(c.reading()); left <= 0 {
			expire()
		} else if ctx.err == nil {
			ctx.timer = c.after(left, expire)
		}
	}
	return ctx, func() { ctx.end(context.Canceled, nil) }
}

// WhenProgramClock calls f, as a step of the kind given, at the first true time at which the clock that the process's code
// reads is at t or later, whatever happens to that clock on the way, and before all else that happens at that time. It is
// not held up by a pause: it is an observation, not an act of the process.
func (p *Process) WhenProgramClock(t time.Time, kind *StepKind, f func()) (stop func()) {
	return p.when(deadline{clock: p.clock, kind: p.reads, at: t.UnixNano()}, kind, f)
}

// WhenWall is WhenProgramClock for the wall clock.
func (p *Process) WhenWall(t Wall, kind *StepKind, f func()) {
	p.when(deadline{clock: p.clock, kind: WallClock, at: int64(t)}, kind, f)
}

// WhenReads is the first true time, from now on, at which the clock that the process's code reads is at t or later, if nothing
// happens to that clock.
func (p *Process) WhenReads(t time.Time) True {
	return deadline{clock: p.clock, kind: p.reads, at: t.UnixNano()}.when()
}

func (p *Process) when(d deadline, kind *StepKind, f func()) (stop func()) {
	fired := false
	e := p.k.schedule(d.when(), first, nil, Label{kind: kind, from: p.number}, action(func() { fired = true; f() }), 0)
	e.deadline = d
	return func() {
		if !fired {
			fired = true
			p.k.cancel(e)
		}
	}
}

// timer implements driver.Timer on a process's monotonic clock.
type timer struct {
	p     *Process
	f     func()
	armed bool
	// counts says that it is one of a WorkClock.
	counts bool
	round  int    // counts the times it was set: one that fires late, after a pause, may have been stopped meanwhile
	event  *event // of that round, as long as event.handler is this timer
}

func (p *Process) after(d time.Duration, f func()) *timer {
	t := &timer{p: p, f: f}
	t.Reset(d)
	return t
}

func (t *timer) Fire(round int) {
	if t.armed && round == t.round {
		t.disarm()
		t.f()
	}
}

func (t *timer) disarm() {
	if t.armed && t.counts {
		t.p.armed--
	}
	t.armed = false
}

func (t *timer) Stop() bool {
	stopped := t.armed
	t.disarm()
	if e := t.event; stopped && e.index >= 0 && e.handler == Handler(t) && e.arg == t.round {
		t.p.k.cancel(e)
	}
	return stopped
}

func (t *timer) Reset(d time.Duration) {
	t.Stop()
	t.armed = true
	if t.counts {
		t.p.armed++
	}
	t.round++
	at := deadline{clock: t.p.clock, at: int64(True(t.p.Mono()).Add(max(d, 0)))}
	t.event = t.p.k.schedule(at.when(), ordinary, t.p, Label{kind: stepTimer, from: t.p.number}, t, t.round)
	t.event.deadline = at
}
