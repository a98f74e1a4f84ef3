package kernel

import (
	"container/heap"

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
		e := heap.Pop(&k.queue).(*event)
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
