package kernel

import (
	"runtime/debug"

	"redlocksim/sim/trace"
)

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
	k := &Kernel{seed: Key(0).With(cfg.Seed), trace: cfg.Trace, limits: cfg.Limits.withDefaults(), names: []string{""}, Events: trace.New()}
	if cfg.Scheduler != nil {
		k.choices = &choices{scheduler: cfg.Scheduler, ids: map[*event]Key{}}
	}
	return k
}

// Run makes the steps up to and including those at true time until. It panics, with the step, if the code that runs
// does, and with the error of Fail: a TooLong if the run goes beyond one of its limits.
func (k *Kernel) Run(until True) {
	defer Enter()()
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
