package sim

import (
	"runtime/debug"
	"time"
)

// Kernel is the one thread of control of a run: true time, the queue of events, and the coroutines that are ready.
type Kernel struct {
	seed    Key
	now     True
	last    uint64 // the order given out last
	queue   queue
	spare   []*event
	ready   []*task
	current *task // nil while an event's own code runs
	tasks   []*task
	idle    []*task
	closed  bool

	steps    int
	running  label // of the step under way
	limits   Limits
	tooLong  *TooLong // the limit that the run has gone beyond
	digest   digest
	trace    func(TraceStep)
	names    []string // of processes, by number; 0 is nobody
	counts   Counts
	choices  *choices  // nil unless a Chooser decides
	recorder *recorder // nil unless the run is recorded
}

func newKernel(seed uint64) *Kernel {
	return &Kernel{seed: Key(0).With(seed), limits: Limits{}.withDefaults(), names: []string{""}}
}

// Now is true time.
func (k *Kernel) Now() True { return k.now }

// Steps is how many steps the run has made.
func (k *Kernel) Steps() int { return k.steps }

// Draw is the key of a random choice of this run; what it is for is added with With and WithString.
func (k *Kernel) Draw(purpose string) Key { return k.seed.WithString(purpose) }

// ordinary puts an event behind those at the same time that were scheduled earlier; first puts it before all others, and
// resumed, of what waited for a paused process, before all ordinary ones.
const (
	first    = uint64(0)
	resumed  = uint64(1) << 62
	ordinary = uint64(1) << 63
)

func (k *Kernel) schedule(at True, lane uint64, owner *Process, l label, h handler, arg int) *event {
	var e *event
	if n := len(k.spare); n > 0 {
		e, k.spare = k.spare[n-1], k.spare[:n-1]
	} else {
		e = new(event)
	}
	k.last++
	*e = event{at: max(at, k.now), order: lane | k.last, owner: owner, label: l, handler: h, arg: arg}
	if k.choices == nil || !k.choices.take(e) {
		k.queue.push(e)
	}
	if len(k.queue) > k.limits.Steps {
		k.exceed("events in the queue", k.limits.Steps)
	}
	return e
}

func (k *Kernel) cancel(e *event) {
	k.queue.remove(e)
	k.free(e)
}

func (k *Kernel) free(e *event) {
	*e = event{index: -1}
	k.spare = append(k.spare, e)
}

// look has what happened to a process, a clock or a link recorded.
func (k *Kernel) look() {
	if k.recorder != nil {
		k.recorder.look()
	}
}

// After calls f when d of true time has passed.
func (k *Kernel) After(d time.Duration, f func()) {
	k.schedule(k.now.Add(d), ordinary, nil, label{kind: StepFault}, action(f), 0)
}

// retime moves the timers of a clock to where they belong after its rate changed or it was stepped. They keep their
// order among each other and among others at the same time.
func (k *Kernel) retime(c *Clock) {
	moved := false
	for i := range k.queue {
		e := k.queue[i].event
		if e.deadline.clock == c {
			e.at = e.deadline.when()
			k.queue[i].at = e.at
			moved = true
		}
	}
	if moved {
		for i := len(k.queue) - 1; i >= 0; i-- {
			k.queue.down(i)
		}
	}
}

// Run makes the steps up to and including those at true time until. It panics, with the step, if the code that runs
// does, and with a TooLong if the run goes beyond one of its limits.
func (k *Kernel) Run(until True) {
	defer k.explain()
	if k.choices != nil {
		k.runChosen(until)
		k.mind()
		return
	}
	k.drain()
	for len(k.queue) > 0 && k.queue[0].at <= until {
		e := k.queue.pop()
		k.now = e.at
		h, arg, owner, l := e.handler, e.arg, e.owner, e.label
		k.free(e)
		if owner != nil && !owner.admits(deferred{handler: h, arg: arg, label: l}) {
			continue
		}
		k.count(l)
		h.fire(arg)
		k.drain()
	}
	k.mind()
	k.now = max(k.now, until)
}

// explain adds to a panic in the code of an event whose event it was.
func (k *Kernel) explain() {
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
		if !t.process.admits(deferred{task: t, label: t.label()}) {
			continue
		}
		k.count(t.label())
		k.resume(t)
	}
	k.ready = k.ready[:0]
}

// count numbers a step and takes it into the trace.
func (k *Kernel) count(l label) {
	k.running = l
	k.steps++
	if k.steps > k.limits.Steps {
		k.exceed("steps", k.limits.Steps)
	}
	k.mind()
	k.digest.add(uint64(k.now))
	k.digest.add(uint64(l.kind) | uint64(l.from)<<8 | uint64(l.to)<<36)
	k.digest.add(l.ref)
	if k.trace != nil {
		k.trace(TraceStep{Step: k.steps, At: k.now, Kind: l.kind, From: k.names[l.from], To: k.names[l.to], Ref: l.ref})
	}
}

// close ends every coroutine. What they still do on their way out has no effect.
func (k *Kernel) close() {
	k.closed = true
	for _, t := range k.tasks {
		t.stop()
	}
}
