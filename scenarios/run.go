package scenarios

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/faults"
	"redlocksim/internal/lockkeys"
	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// Tier is what the library talks to.
type Tier string

const (
	// Model: Redis semantics in Go, in virtual time.
	Model Tier = "model"
	// Wire: the shipped go-redis adapter, RESP bytes, and a miniredis per node, in virtual time.
	Wire Tier = "wire"
)

// Program is tier wire for locks that are programs of their own, which have connections to the nodes and speak RESP: see
// Options.Locker and package programs.
const Program Tier = "program"

// Live is the tier of redis-server processes. It is not one of Tiers: its runs are made by package live, take real time,
// and do not repeat themselves.
const Live Tier = "live"

var tiers = strictyaml.EnumOf("tier", Tiers()...)

// ParseTier reads the name of a tier.
func ParseTier(name string) (Tier, error) { return tiers.Parse(name) }

func (t Tier) backend() (redis.Tier, error) {
	switch t {
	case Model:
		return model.New(), nil
	case Wire, Program:
		return newWire()
	}
	return nil, fmt.Errorf("scenarios: no such tier %q", t)
}

// Options say how to run a scenario. The zero value is tier model with seed 0.
type Options struct {
	Tier Tier
	Seed uint64
	// Trace, if not nil, is told of every step of the kernel.
	Trace func(kernel.TraceStep)
	// Scheduler, if not nil, decides what happens next; see kernel.Scheduler.
	Scheduler kernel.Scheduler
	// Unhashed leaves the hashes out of the Outcome, for many runs of which few matter.
	Unhashed bool
	// Buffer is memory for the history, from a run whose outcome is no longer needed.
	Buffer history.History
	// Unwatched leaves the monitors out, of a run whose findings nobody reads; Unrefined only the one that follows the
	// specification of Redlock, which costs the most.
	Unwatched, Unrefined bool
	// Watch is given the world before anything happens in it, to read its events.
	Watch func(*sim.World)
	// Overheard, if not nil, is told of all that passes between the clients' libraries and the nodes; see overhear.
	Overheard func(line string)
	// Foreign, if not nil, is the lock in the place of the scenario's protocol.
	Foreign *Foreign
}

// Outcome is one run of a scenario.
type Outcome struct {
	History     history.History
	HistoryHash string
	TraceHash   string
	Steps       int
	// Used is what the faults have taken from the budget, and Exceeded from when on that is more than there was; 0 if that is
	// not known.
	Used     faults.Used
	Exceeded kernel.True
	// Counts are what happened below the seams of the library.
	Counts redis.Counts
	// NotInjected are the faults of the timeline that did not happen, and why not.
	NotInjected []string
	// Unmet are the faults of a run in which none has met a message; see faults.Field.
	Unmet []faults.Fault
	// Idle are the items of the timeline in which a client was to start and did not.
	Idle []string
	// Left are the indices of all these items in the timeline, ascending.
	Left []int
	// Monitored is what monitors found while the run went on; see package rules.
	Monitored []checker.Finding
	// Watched counts what there was to judge for those that made them.
	Watched checker.Watched
	// Leaks are the lock keys without a time to live, when the run was over.
	Leaks []Leak
}

// ErrTooLong is the error of a run that would go beyond one of the simulator's limits (sim.Limits): the scenario asks for too
// much. Nothing is wrong with the simulator or the library.
var ErrTooLong = kernel.ErrTooLong

// shorten is what can be done about ErrTooLong.
const shorten = "lower repeat, goroutines or duration, or have fewer clients, steps or faults with every"

// RunError is the error of a run that was not made to its end or could not be judged: it matches ErrTooLong,
// ErrNotRepeated, ErrTiersDiffer or ErrUnconfirmed, is that of a program, or is an internal one. Other runs are as good as
// before.
type RunError struct {
	Scenario *Scenario
	Tier     Tier
	Seed     uint64
	Err      error
}

func (e *RunError) Error() string {
	return fmt.Sprintf("scenarios: %s, tier %s, seed %d: %v", e.Scenario.Name, e.Tier, e.Seed, e.Err)
}

func (e *RunError) Unwrap() error { return e.Err }

// failed is the error of a run.
func (s *Scenario) failed(o Options, err error) error { return &RunError{s, o.On(), o.Seed, err} }

// Run makes one run. The error is a [*RunError]: the simulator or the library failed, unless it matches ErrTooLong.
func Run(s *Scenario, o Options) (out *Outcome, err error) {
	w, err := s.newWorld(&o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := w.Close(); closed != nil && err == nil {
			out, err = nil, s.failed(o, closed)
		}
	}()
	defer s.Recovered(o, &err)
	readers := s.readers(w, o)
	armed, err := s.start(w, o)
	if err != nil {
		return nil, err
	}
	w.Kernel.Run(kernel.True(s.Duration))

	out = &Outcome{History: w.History(), Steps: w.Kernel.Steps(), Exceeded: armed.field.Exceeded, Counts: w.Counts(), Leaks: leaks(w)}
	if !o.Unhashed {
		out.HistoryHash, out.TraceHash = w.HistoryHash(), w.TraceHash()
	}
	for _, adds := range readers {
		adds(out)
	}
	armed.Tell(out)
	return out, nil
}

// readers has the events of a run read for what the options ask for. Each of them adds to the outcome when the run is over.
func (s *Scenario) readers(w *sim.World, o Options) (all []func(*Outcome)) {
	adds := func(f func(*Outcome)) { all = append(all, f) }
	if !o.Unwatched {
		m := s.monitored(w, o)
		m.Watch()
		adds(func(out *Outcome) { out.Monitored, out.Watched = m.Findings(), m.Watched })
	}
	if o.Overheard != nil {
		overhear(w, o.Overheard)
	}
	if o.Watch != nil {
		o.Watch(w)
	}
	return all
}

// monitored is the run as monitors see it.
func (s *Scenario) monitored(w *sim.World, o Options) *rules.Run {
	m := &rules.Run{World: w, Lock: s.Lock, StepTime: s.StepTime.Max(), Resources: s.Resources, Foreign: o.Foreign != nil,
		Declared: o.Foreign.keys() != nil, Unrefined: o.Unrefined, FailsOver: slices.ContainsFunc(s.Timeline, promotes)}
	if o.Foreign != nil {
		m.OneNode, m.Renews = o.Foreign.OneNode, o.Foreign.Renews
	}
	if o.Tier != Program {
		m.MaxCommands = s.Expect.Commands // which the library needs
	}
	return m
}

// promotes says whether something in a timeline has a replica take the place of a node.
func promotes(i Item) bool {
	switch i.Fault.(type) {
	case *faults.Promote, *faults.Failover:
		return true
	}
	return false
}

// newWorld makes the world of a run, before anything happens in it. It fills in the tier.
func (s *Scenario) newWorld(o *Options) (*sim.World, error) {
	o.Tier = o.On()
	backend, err := o.Tier.backend()
	if err != nil {
		return nil, err
	}
	w := sim.NewWorld(s.world(*o), backend)
	w.LockOf = lockkeys.Of(o.Foreign.keys(), s.Resources).Of
	if r := s.Network.Replies; r != nil {
		w.Network.Each(func(l *network.Link) { l.SetLatency(network.Replies, r.Latency) })
	}
	return w, nil
}

// start has the clients and the faults of the scenario wait for their moments.
func (s *Scenario) start(w *sim.World, o Options) (*Armed, error) {
	sessions := map[string]*Session{}
	begin := func(p *kernel.Process) (err error) {
		sessions[p.Name()], err = NewSession(newSimulated(w, p), s, o.Foreign, w.Events)
		return err
	}
	for _, p := range w.Clients {
		if err := begin(p); err != nil {
			return nil, fmt.Errorf("scenarios: %s: %w", s.Name, err)
		}
	}
	trace.On(w.Events, func(again kernel.Restarted) {
		p := again.Process
		if begin(p) != nil { // a lock of one's own may need random bytes, for one: the program ends at once
			sessions[p.Name()] = nil
			w.Kernel.After(0, func() { _ = w.Crash(p) }) // it runs
		}
	})
	return s.Arm(faults.NewField(faults.In(w)), func(i int) bool {
		item := &s.Timeline[i]
		if x := sessions[item.Client]; x != nil {
			for range max(item.Goroutines, 1) {
				w.Client(item.Client).Go(func() { x.Run(item) })
			}
		}
		return true
	}), nil
}

// world is the scenario's, before anything happens in it.
func (s *Scenario) world(o Options) sim.Config {
	cfg := sim.Config{Seed: o.Seed, Nodes: s.Nodes.Names, Replicas: s.Nodes.replicas(), Persistence: s.Nodes.Persistence,
		SnapshotEvery: s.Nodes.SnapshotEvery, Forbidden: string(s.Nodes.Forbidden), Software: s.Nodes.software(), Latency: s.Network.Latency.Latency, Storage: s.Storage, Trace: o.Trace, Buffer: o.Buffer, Unhashed: o.Unhashed, Scheduler: o.Scheduler}
	for _, name := range s.Clients {
		cfg.Clients = append(cfg.Clients, sim.ClientConfig{Name: name, LockClock: s.Lock.Clock, StepTime: s.StepTime.Latency})
	}
	return cfg
}

// Recovered, when deferred, has a panic be the error of the run that it came of, or of its judging: the simulator panics where
// the run goes beyond its limits.
func (s *Scenario) Recovered(o Options, err *error) {
	if p := recover(); p != nil {
		*err = s.failed(o, panicked(p))
	}
}

func panicked(p any) error {
	if errors.Is(asError(p), ErrTooLong) {
		return fmt.Errorf("%w; %s", asError(p), shorten)
	}
	if failed := ProgramFailure(nil); errors.As(asError(p), &failed) {
		return failed
	}
	stack := debug.Stack()
	if in := (*kernel.Panic)(nil); errors.As(asError(p), &in) {
		stack = in.Stack
	}
	return fmt.Errorf("panic: %v\n%s", p, stack)
}

// ProgramFailure is what a lock program has done wrong: nothing is wrong with the simulator.
type ProgramFailure interface {
	error
	OfProgram()
}

// asError is what was panicked with, if it is an error.
func asError(p any) error {
	err, _ := p.(error)
	return err
}

// CheckOptions is how the histories of the scenario are judged. A scenario in which nobody is to be granted the lock says
// so.
func (s *Scenario) CheckOptions() checker.Options {
	o := checker.Options{End: checker.Instant(s.Duration), Reentrant: s.Lock.Capabilities().Reentrant, Stopping: faults.Stopping()}
	for _, name := range s.Semaphores {
		o.Semaphores = append(o.Semaphores, checker.Semaphore{Name: name, Permits: s.Permits(name)})
	}
	if len(s.Expect.Grants) == len(s.Clients) && !slices.ContainsFunc(s.Expect.Grants, func(g strictyaml.Entry[int]) bool { return g.Value > 0 }) {
		o.MinGrants = -1
	}
	return o
}
