// Package sim is a deterministic simulator of clients, Redis nodes, clocks and a network: a [World] is one run, made of the
// packages below it.
//
//   - How time passes, and what happens next, is in package kernel.
//   - How a message travels, or does not, is in package network.
//   - What a node does when it stops and starts again is in package redis; packages model and wire are the tiers, which carry
//     out its commands.
//   - The resource that a lock guards is in package storage; lock services of other kinds are in packages consensus and
//     database.
//
// The code under test, package redlock, runs unchanged: a process supplies its clock, tasks and random bytes, a tier its
// nodes.
//
// A run is a pure function of its configuration and seed. Nothing in it reads the wall clock, iterates over a map or starts a
// goroutine that runs beside another, and every random choice is a function of the seed and of what it is for.
//
// Start with [NewWorld].
package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
	"redlocksim/sim/trace"
)

// Config is what a world consists of.
type Config struct {
	// Seed decides every random choice.
	Seed uint64
	// Nodes names the Redis nodes; Persistence is what all of them write to disk, and SnapshotEvery how old a snapshot is at
	// least before there is another.
	Nodes         []string
	Persistence   redis.Persistence
	SnapshotEvery time.Duration
	// Forbidden is a command that the last of the Nodes does not have, or redis.Scripts; empty if it has all.
	Forbidden string
	// Software is what a node or replica runs, by its name; that of all others is Redis 7.0.
	Software map[string]redis.Software
	// Replicas names the asynchronous replicas of nodes, by the node's name.
	Replicas map[string][]string
	Clients  []ClientConfig
	// Latency is the delay of messages in each direction, on every link.
	Latency network.Latency
	// Storage is what the shared resource demands of requests.
	Storage storage.Kind
	// Trace, if not nil, is told of every step of the kernel.
	Trace func(kernel.TraceStep)
	// Unhashed leaves the hashes out, for runs of which only the history matters: HistoryHash and TraceHash then mean
	// nothing.
	Unhashed bool
	// Buffer is memory for the history to be recorded in; what it holds is overwritten.
	Buffer history.History
	// MaxEvents is how many events the history may have, DefaultMaxEvents if it is zero, and Limits what else the run may use.
	MaxEvents int
	Limits    kernel.Limits
	// Scheduler, if not nil, decides what happens next; the latencies do not matter then.
	Scheduler kernel.Scheduler
}

// DefaultMaxEvents bounds the history of a run. The longest scenario that comes with redlocksim has 26,000 events.
const DefaultMaxEvents = 250_000

// ClientConfig is a client process.
type ClientConfig struct {
	Name string
	// LockClock is the clock that it measures validity with; only Monotonic and Boottime are right.
	LockClock kernel.ClockKind
	// StepTime is the time from one step of its code to the next; see kernel.Process.Takes.
	StepTime network.Latency
}

// World is one run: the kernel, the processes, the network between them, and the history.
type World struct {
	Kernel *kernel.Kernel
	// Events are those of the run.
	Events  *trace.Stream
	Network *network.Network
	*redis.Deployment
	Clients []*kernel.Process
	Storage *storage.Storage
	// LockOf is the resource for which a key of a node stands, as its lock or as a part of it; false if it stands for none.
	// Whoever makes the world sets it.
	LockOf func(key string) (resource string, is bool)

	latency   network.Latency // of messages, unless a link has its own
	shared    map[string]any
	history   history.History
	maxEvents int
	hasher    *history.Hasher
	unhashed  bool
	recorded  *trace.Kind[*history.Event]
	ops       int
}

// NewWorld builds a world at true time 0. Close it after use.
func NewWorld(cfg Config, tier redis.Tier) *World {
	w := &World{latency: cfg.Latency, shared: map[string]any{}, history: cfg.Buffer[:0], hasher: new(history.Hasher), unhashed: cfg.Unhashed,
		maxEvents: cmp.Or(cfg.MaxEvents, DefaultMaxEvents)}
	w.Kernel = kernel.New(kernel.Config{Seed: cfg.Seed, Trace: cfg.Trace, Limits: cfg.Limits,
		Scheduler: cfg.Scheduler})
	w.Events = w.Kernel.Events
	w.recorded = trace.Of[*history.Event](w.Events)
	w.Network = network.New(w.Kernel)
	w.Deployment = redis.Deploy(w.Kernel, w.Network, tier, redis.Config{Nodes: cfg.Nodes, Persistence: cfg.Persistence,
		SnapshotEvery: cfg.SnapshotEvery, Forbidden: cfg.Forbidden, Software: cfg.Software, Replicas: cfg.Replicas, Latency: cfg.Latency})
	w.Storage = storage.New(w.Kernel, w.Network, cfg.Storage, w.Record)
	for _, c := range cfg.Clients {
		p := w.Kernel.NewProcess(c.Name, c.LockClock)
		if c.StepTime.Max() > 0 {
			p.Takes(c.StepTime.Draw)
		}
		w.Clients = append(w.Clients, p)
		w.Connect(p)
	}
	return w
}

// Connect makes the links of a client to all nodes and to the storage.
func (w *World) Connect(client *kernel.Process) {
	w.Deployment.Connect(client)
	w.Storage.Connect(client, w.latency)
}

// Close ends every process and frees what the tier holds. The error says that something could not be freed.
func (w *World) Close() error {
	w.Kernel.Close()
	return w.Deployment.Close()
}

// Client finds a client by name; nil if there is none.
func (w *World) Client(name string) *kernel.Process {
	for _, p := range w.Clients {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// Process finds a client, a node or the storage by name; nil if there is none.
func (w *World) Process(name string) *kernel.Process {
	if p := w.Client(name); p != nil {
		return p
	}
	if s := w.Server(name); s != nil {
		return s.Process
	}
	if name == storage.Name {
		return w.Storage.Process
	}
	return nil
}

// History is what has been recorded so far.
func (w *World) History() history.History { return w.history }

// HistoryHash is the hash of the history so far; see package history.
func (w *World) HistoryHash() string { return w.hasher.Sum() }

// TraceHash is the hash of every step of the kernel so far, and of the history. Unlike HistoryHash it belongs to one tier.
func (w *World) TraceHash() string { return w.Kernel.TraceHash(w.HistoryHash()) }

// NewOp numbers an operation.
func (w *World) NewOp() int {
	w.ops++
	return w.ops
}

// Record numbers and times an event of the history, adds it there and tells its readers. The one that is beyond the limit ends
// the run, and is not recorded.
func (w *World) Record(e history.Event) {
	if w.Kernel.Closed() {
		return
	}
	if len(w.history) >= w.maxEvents {
		w.Kernel.Exceed("events of the history", w.maxEvents)
		return
	}
	e.Seq = len(w.history) + 1
	e.Time = int64(w.Kernel.Now())
	w.history = append(w.history, e)
	recorded := &w.history[len(w.history)-1]
	if !w.unhashed {
		w.hasher.Add(recorded)
	}
	w.recorded.Tell(recorded)
}

// beliefEnds is the kind of the steps that WhenBeliefEnds and WhenWall make.
var beliefEnds = kernel.NewStepKind(8, "belief ends")

// WhenBeliefEnds calls f when the lock clock of the client first reads until: before anything else at that time, and
// whether or not the client is paused. stop takes it back.
func (w *World) WhenBeliefEnds(client *kernel.Process, until time.Time, f func()) (stop func()) {
	return client.WhenProgramClock(until, beliefEnds, f)
}

// WhenWall calls f when the wall clock of a process first reads t, whatever happens to that clock on the way.
func (w *World) WhenWall(p *kernel.Process, t kernel.Wall, f func()) { p.WhenWall(t, beliefEnds, f) }

// Crash ends a client process, and records it.
func (w *World) Crash(client *kernel.Process) error {
	if client.Dead() {
		return fmt.Errorf("sim: crash: %s has crashed already", client.Name())
	}
	client.Crash()
	w.Record(history.Event{Kind: history.Crash, Process: client.Name()})
	trace.Tell(w.Events, Crashed{client})
	return nil
}

// Crashed is the event that a client process has crashed, behind that of the history.
type Crashed struct{ *kernel.Process }

// RestartClient starts a client process again that has crashed. World.Client gives the new one from now on, with the links of
// the one before.
func (w *World) RestartClient(client string) error {
	i := slices.IndexFunc(w.Clients, func(p *kernel.Process) bool { return p.Name() == client })
	if !w.Clients[i].Dead() {
		return fmt.Errorf("sim: restart: %s has not crashed", client)
	}
	p := w.Clients[i].StartAgain()
	w.Clients[i] = p
	w.Network.Restarted(p)
	w.Deployment.Restarted(p)
	trace.Tell(w.Events, kernel.Restarted{Process: p})
	return nil
}

// Shared is what all clients of a protocol share in this world, made when the first of them asks.
func Shared[T any](w *World, name string, make func() T) T {
	v, ok := w.shared[name]
	if !ok {
		v = make()
		w.shared[name] = v
	}
	return v.(T)
}
