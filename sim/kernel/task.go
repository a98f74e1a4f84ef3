package kernel

import (
	"fmt"
	"iter"
	"runtime/debug"
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
	steps   uint64 // since it got its purpose
	program bool   // a client's program rather than a task of the library or its adapter
	baggage Baggage
}

// postpone has the task, which cannot go on now, go on when its process resumes, if that will.
func (t *task) postpone() {
	t.process.postpone(pending{handler: t, label: Label{kind: stepResume, from: t.process.number}})
}

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
	t.process, t.body, t.program, t.stream, t.steps, t.baggage = p, body, program, p.stream, 0, Baggage{Key: p.baggage}
	k.resume(t)
}

func (t *task) loop(yield func(struct{}) bool) {
	t.yield = yield
	Enter() // for as long as the goroutine lives
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

// Baggage is what a task carries for the packages above: what the messages are for that it sends, and how many there were.
type Baggage struct {
	Key  Key
	Sent int
}

// park gives up control until the task is resumed.
func (k *Kernel) park() {
	t := k.current
	if k.closed || !t.yield(struct{}{}) {
		panic(unwinding{})
	}
}

// A kernel runs code on the goroutine that calls Run and on those of its coroutines. Each of them is marked, so that code which
// is handed to others can tell whether it is called on one. A mark is the goroutine's own and is not handed down to those that
// it starts. The runtime has one such mark that costs next to nothing to look at: whether a fault at an address that is not nil
// panics or ends the program. So such a fault in simulated code is a panic of its process, and code that sets this itself
// unmarks its goroutine.

// Enter marks the calling goroutine as one of a kernel's until leave is called, for what belongs to a run and comes before Run.
func Enter() (leave func()) {
	was := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(was) }
}

// Entered says whether the calling goroutine is one of a kernel's.
func Entered() bool {
	is := debug.SetPanicOnFault(true)
	if !is {
		debug.SetPanicOnFault(false)
	}
	return is
}
