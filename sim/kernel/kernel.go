// Package kernel is a deterministic scheduler of events and coroutines in simulated time: the queue, the processes with their
// clocks, and randomness. It knows nothing of what the processes are.
//
// A run is one thread of control: events ordered by true time and sequence, and processes as coroutines that give up control
// only where they wait. Every random choice is a function of the seed and of what it is for (see [Kernel.Draw]), so that
// taking one event away moves no other choice.
//
// Start with [New], [Kernel.NewProcess] and [Kernel.Run].
package kernel

import (
	"container/heap"
	"time"

	"redlocksim/sim/trace"
)

// Kernel is the one thread of control of a run: true time, the queue of events, and the coroutines that are ready.
type Kernel struct {
	// Events are those of the run.
	Events *trace.Stream

	seed  Key
	now   True
	last  uint64 // the order given out last
	queue queue
	spare []*event
	names []string // of processes, by number; 0 is nobody

	ready   []*task
	current *task // nil while an event's own code runs
	tasks   []*task
	idle    []*task
	closed  bool

	steps   int
	running Label // of the step under way
	digest  digest
	trace   func(TraceStep)
	limits  Limits
	failure error // why the run cannot go on

	choices *choices // nil unless a Scheduler decides
}

// Now is true time.
func (k *Kernel) Now() True { return k.now }

// Steps is how many steps the run has made.
func (k *Kernel) Steps() int { return k.steps }

// Closed says whether the run is over. What coroutines still do on their way out must have no effect.
func (k *Kernel) Closed() bool { return k.closed }

// Draw is the key of a random choice of this run; what it is for is added with With and WithString.
func (k *Kernel) Draw(purpose string) Key { return k.seed.WithString(purpose) }

// Draw is the key of random choices of the process. A restarted one makes others.
func (p *Process) Draw(what string) Key {
	key := p.k.Draw(what).WithString(p.name)
	if p.life > 0 {
		key = key.With(p.life)
	}
	return key
}

// StateChanged is the event that a process is no longer as it was: it pauses, goes on, has crashed, or lacks random bytes.
type StateChanged struct{ *Process }

// Restarted is the event that a process was started again, and has taken the place of the one before.
type Restarted struct{ *Process }

// ClockMoved is the event that a clock is not as it would have been: it was stepped, goes at another rate, stands still or goes
// on.
type ClockMoved struct{ *Clock }

// After calls f when d of true time has passed.
func (k *Kernel) After(d time.Duration, f func()) {
	k.schedule(k.now.Add(d), ordinary, nil, Label{kind: StepTimeline}, action(f), 0)
}

// Schedule has h fire at a true time, with arg: behind all that was scheduled for that time before.
func (k *Kernel) Schedule(at True, l Label, h Handler, arg int) {
	k.schedule(at, ordinary, nil, l, h, arg)
}

// ScheduleNext has h fire now, with arg: before what else is to happen at this time, but behind what was scheduled in this way
// before, and behind what has waited for a process that resumes.
func (k *Kernel) ScheduleNext(l Label, h Handler, arg int) {
	k.schedule(k.now, resumed, nil, l, h, arg)
}

func (k *Kernel) schedule(at True, lane uint64, o *Process, l Label, h Handler, arg int) *event {
	var e *event
	if n := len(k.spare); n > 0 {
		e, k.spare = k.spare[n-1], k.spare[:n-1]
	} else {
		e = new(event)
	}
	k.last++
	*e = event{pending: pending{h, arg, l}, at: max(at, k.now), order: lane | k.last, owner: o}
	if k.choices == nil || !k.choices.take(e) {
		heap.Push(&k.queue, e)
	}
	if len(k.queue) > k.limits.Steps {
		k.Exceed("events in the queue", k.limits.Steps)
	}
	return e
}

func (k *Kernel) cancel(e *event) {
	heap.Remove(&k.queue, e.index)
	k.free(e)
}

func (k *Kernel) free(e *event) {
	*e = event{index: -1}
	k.spare = append(k.spare, e)
}

// retime moves the timers of a clock to where they belong after its rate changed or it was stepped. They keep their
// order among each other and among others at the same time.
func (k *Kernel) retime(c *Clock) {
	for _, e := range k.queue {
		if e.deadline.clock == c {
			e.at = e.deadline.when()
		}
	}
	heap.Init(&k.queue)
}

// Exceed ends the run with a TooLong; see Fail.
func (k *Kernel) Exceed(what string, limit int) { k.Fail(&TooLong{what, limit, k.now}) }

// Fail ends the run, with an error that says why it proves nothing, before its next step. The first failure counts. It does not
// end the code that is running: that could have deferred calls which wait for others.
func (k *Kernel) Fail(err error) {
	if k.failure == nil {
		k.failure = err
	}
}
