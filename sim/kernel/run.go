package kernel

import "runtime/debug"

// Config is what a run starts from. Its zero value is good.
type Config struct {
	// Seed decides every random choice.
	Seed uint64
	// Trace, if not nil, is told of every step.
	Trace func(TraceStep)
	// Limits bounds the run.
	Limits Limits
	// Scheduler, if not nil, decides what happens next.
	Scheduler Scheduler
}

// New makes a kernel at true time 0.
func New(cfg Config) *Kernel {
	k := &Kernel{seed: Key(0).With(cfg.Seed), trace: cfg.Trace, limits: cfg.Limits.withDefaults(), names: []string{""}}
	if cfg.Scheduler != nil {
		k.choices = &choices{scheduler: cfg.Scheduler, ids: map[*event]Key{}}
	}
	return k
}

// Run makes the steps up to and including those at true time until. It panics, with the step, if the code that runs
// does, and with a TooLong if the run goes beyond one of its limits.
func (k *Kernel) Run(until True) {
	defer k.locate()
	if k.choices != nil {
		k.runChosen(until)
		k.checkLimits()
		return
	}
	k.drain()
	for len(k.queue) > 0 && k.queue[0].at <= until {
		e := k.queue.pop()
		k.now = e.at
		k.take(e)
	}
	k.checkLimits()
	k.now = max(k.now, until)
}

// take makes the step of an event that is out of the queue, and lets go on who was woken by it.
func (k *Kernel) take(e *event) {
	p, o := e.pending, e.owner
	k.free(e)
	if o != nil && !o.admits(p) {
		return
	}
	k.count(p.label)
	p.handler.Fire(p.arg)
	k.drain()
}

// locate adds to a panic in the code of an event whose event it was.
func (k *Kernel) locate() {
	switch v := recover().(type) {
	case nil:
	case *Panic, *TooLong:
		panic(v)
	default:
		l := k.running
		panic(&Panic{Process: k.names[max(l.to, l.from)], At: k.now, Step: k.steps, Value: v, Stack: debug.Stack()})
	}
}

// drain lets every task go on that was woken, in the order of waking, before the next event.
func (k *Kernel) drain() {
	for i := 0; i < len(k.ready); i++ {
		t := k.ready[i]
		if !t.process.admits(pending{handler: t, label: t.label()}) {
			continue
		}
		k.count(t.label())
		k.resume(t)
	}
	k.ready = k.ready[:0]
}

// count numbers a step and takes it into the trace.
func (k *Kernel) count(l Label) {
	k.running = l
	k.steps++
	if k.steps > k.limits.Steps {
		k.Exceed("steps", k.limits.Steps)
	}
	k.checkLimits()
	k.digest.add(uint64(k.now))
	k.digest.add(uint64(l.kind.Number) | uint64(l.from)<<8 | uint64(l.to)<<36)
	k.digest.add(l.ref)
	if k.trace != nil {
		k.trace(TraceStep{Step: k.steps, At: k.now, Kind: l.kind, From: k.names[l.from], To: k.names[l.to], Ref: l.ref})
	}
}

// checkLimits panics if the run has gone beyond a limit. It is not for tasks.
func (k *Kernel) checkLimits() {
	if k.tooLong != nil {
		panic(k.tooLong)
	}
}

// TraceHash is the hash of every step so far, and of what.
func (k *Kernel) TraceHash(what string) string {
	d := k.digest
	d.add(uint64(Key(0).WithString(what)))
	return d.String()
}

// Close ends every coroutine. What they still do on their way out has no effect.
func (k *Kernel) Close() {
	k.closed = true
	for _, t := range k.tasks {
		t.stop()
	}
}
