package kernel

import "runtime/debug"

// take makes the step of an event that is out of the queue, and lets go on who was woken by it.
func (k *Kernel) take(e *event) {
	p, o := e.pending, e.owner
	k.free(e)
	if o != nil && !o.runs() {
		o.postpone(p)
		return
	}
	k.count(p.label)
	p.handler.Fire(p.arg)
	k.drain()
}

// drain lets every task go on that was woken, in the order of waking, before the next event.
func (k *Kernel) drain() {
	for i := 0; i < len(k.ready); i++ {
		t := k.ready[i]
		if !t.process.runs() {
			t.postpone()
			continue
		}
		k.count(Label{kind: stepWake, from: t.process.number})
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
	k.digest.add(uint64(l.kind.number) | uint64(l.from)<<8 | uint64(l.to)<<36)
	k.digest.add(l.ref)
	if k.trace != nil {
		k.trace(TraceStep{Step: k.steps, At: k.now, Kind: l.kind, From: k.names[l.from], To: k.names[l.to], Ref: l.ref})
	}
}

// locate adds to a panic in the code of an event whose event it was.
func (k *Kernel) locate() {
	switch v := recover().(type) {
	case nil:
	case *Panic:
		panic(v)
	default:
		if k.failure != nil && v == any(k.failure) {
			panic(v)
		}
		l := k.running
		panic(&Panic{Process: k.names[max(l.to, l.from)], At: k.now, Step: k.steps, Value: v, Stack: debug.Stack()})
	}
}

// checkLimits panics if the run cannot go on. It is not for tasks.
func (k *Kernel) checkLimits() {
	if k.failure != nil {
		panic(k.failure)
	}
}
