package sim

import (
	"fmt"
	"time"

	"redlocksim/history"
	"redlocksim/redlock/driver"
)

// Config is what a world consists of.
type Config struct {
	// Seed decides every random choice.
	Seed uint64
	// Nodes names the Redis nodes; Persistence is what all of them write to disk.
	Nodes       []string
	Persistence Persistence
	// Replicas names the asynchronous replicas of nodes, by the node's name.
	Replicas map[string][]string
	Clients  []ClientConfig
	// Latency is the delay of messages in each direction, on every link.
	Latency Latency
	// Storage is what the shared resource demands of requests.
	Storage StorageKind
	// Trace, if not nil, is told of every step of the kernel.
	Trace func(TraceStep)
	// Record has the run recorded; see World.Recording.
	Record bool
	// Unhashed leaves the hashes out, for runs of which only the history matters: HistoryHash and TraceHash then mean
	// nothing.
	Unhashed bool
	// Buffer is memory for the history to be recorded in; what it holds is overwritten.
	Buffer history.History
	// Limits bounds the run.
	Limits Limits
	// Chooser, if not nil, decides what happens next; the latencies do not matter then.
	Chooser Chooser
}

// ClientConfig is a client process.
type ClientConfig struct {
	Name string
	// LockClock is the clock that it measures validity with; only Monotonic and Boottime are right.
	LockClock ClockKind
}

// Backend is what the library talks to below its Node seam: one implementation per tier.
type Backend interface {
	// Memory makes the memory of a node. It is called once for every node, before all else.
	Memory(s *Server) Memory
	// Node makes the library's view of a node for one client, over the link between them.
	Node(client *Process, s *Server, l *Link) driver.Node
	// Redis makes a client's plain connection to a node, over the same link.
	Redis(client *Process, s *Server, l *Link) Redis
	// Serve answers a request that has arrived at the node.
	Serve(s *Server, x *Exchange)
	// Close frees what the backend holds, after the run.
	Close()
}

// StorageName is the name of the shared resource's process.
const StorageName = "storage"

// World is one run: the kernel, the processes, the network between them, and the history.
type World struct {
	Kernel  *Kernel
	Network *Network
	Servers []*Server
	// Replicas are those of all Servers; no client knows of them.
	Replicas []*Server
	Clients  []*Process
	Storage  *Storage

	backend  Backend
	latency  Latency
	shared   map[string]any
	nodes    map[*Process][]driver.Node
	plain    map[*Process][]Redis
	history  history.History
	hasher   *history.Hasher
	unhashed bool
	watchers []func(*history.Event)
	ops      int
}

// NewWorld builds a world at true time 0. Close it after use.
func NewWorld(cfg Config, backend Backend) *World {
	k := newKernel(cfg.Seed)
	k.trace, k.limits = cfg.Trace, cfg.Limits.withDefaults()
	w := &World{Kernel: k, Network: &Network{k: k}, backend: backend, latency: cfg.Latency, shared: map[string]any{}, nodes: map[*Process][]driver.Node{}, plain: map[*Process][]Redis{}, history: cfg.Buffer[:0], hasher: new(history.Hasher), unhashed: cfg.Unhashed}
	if cfg.Chooser != nil {
		k.choices = &choices{world: w, chooser: cfg.Chooser, ids: map[*event]Key{}}
	}
	for _, name := range cfg.Nodes {
		s := &Server{Process: k.newProcess(name), persistence: cfg.Persistence}
		s.memory = backend.Memory(s)
		w.Servers = append(w.Servers, s)
	}
	for _, s := range w.Servers {
		w.replicate(s, cfg.Replicas[s.name], cfg.Persistence, cfg.Latency)
	}
	w.Storage = newStorage(w, cfg.Storage)
	for _, c := range cfg.Clients {
		p := k.newProcess(c.Name)
		p.lockClock = c.LockClock
		w.Clients = append(w.Clients, p)
		for i, s := range w.allServers() {
			l := w.Network.connect(p, s.Process, cfg.Latency, func(x *Exchange) { w.serve(s, x) }, func() presence { return s.state })
			s.links = append(s.links, l)
			if i < len(w.Servers) {
				w.nodes[p] = append(w.nodes[p], &counted{backend.Node(p, s, l), &k.counts})
			}
		}
		w.Storage.connect(p, cfg.Latency)
	}
	if cfg.Record {
		k.recorder = newRecorder(w)
	}
	return w
}

// Close ends every process and frees the backend.
func (w *World) Close() {
	w.Kernel.close()
	w.backend.Close()
}

// Nodes is what a client gives to redlock.New.
func (w *World) Nodes(client *Process) []driver.Node { return w.nodes[client] }

// Client, Server and Process find a process by name; nil if there is none.
func (w *World) Client(name string) *Process {
	for _, p := range w.Clients {
		if p.name == name {
			return p
		}
	}
	return nil
}

// allServers is the Servers and then the Replicas.
func (w *World) allServers() []*Server {
	return append(w.Servers[:len(w.Servers):len(w.Servers)], w.Replicas...)
}

// Server finds a Redis node, a replica too, by name; nil if there is none.
func (w *World) Server(name string) *Server {
	for _, s := range w.allServers() {
		if s.name == name {
			return s
		}
	}
	return nil
}

// Process finds a client, a node or the storage by name; nil if there is none.
func (w *World) Process(name string) *Process {
	if p := w.Client(name); p != nil {
		return p
	}
	if s := w.Server(name); s != nil {
		return s.Process
	}
	if name == StorageName {
		return w.Storage.Process
	}
	return nil
}

// History is what has been recorded so far.
func (w *World) History() history.History { return w.history }

// HistoryHash is the hash of the history so far; see package history.
func (w *World) HistoryHash() string { return w.hasher.Sum() }

// TraceHash is the hash of every step of the kernel so far, and of the history. Unlike HistoryHash it belongs to one tier.
func (w *World) TraceHash() string {
	d := w.Kernel.digest
	d.add(uint64(Key(0).WithString(w.HistoryHash())))
	return d.String()
}

// NewOp numbers an operation.
func (w *World) NewOp() int {
	w.ops++
	return w.ops
}

// Watch has f called after each event that is recorded, at that very step. The event must not be changed.
func (w *World) Watch(f func(*history.Event)) { w.watchers = append(w.watchers, f) }

// Record numbers and times an event, adds it to the history and tells the watchers. The one that is beyond the limit ends
// the run, and is not recorded.
func (w *World) Record(e history.Event) {
	if w.Kernel.closed {
		return
	}
	if limit := w.Kernel.limits.Events; len(w.history) >= limit {
		w.Kernel.exceed("events of the history", limit)
		return
	}
	e.Seq = len(w.history) + 1
	e.Time = int64(w.Kernel.now)
	w.history = append(w.history, e)
	recorded := &w.history[len(w.history)-1]
	if !w.unhashed {
		w.hasher.Add(recorded)
	}
	for _, f := range w.watchers {
		f(recorded)
	}
}

// WhenBeliefEnds calls f when the lock clock of the client first reads until: before anything else at that time, and
// whether or not the client is paused. stop takes it back.
func (w *World) WhenBeliefEnds(client *Process, until time.Time, f func()) (stop func()) {
	return lockClock{client, client.lockClock}.when(until, f)
}

// WhenWall calls f when the wall clock of a process first reads t, whatever happens to that clock on the way.
func (w *World) WhenWall(p *Process, t Wall, f func()) {
	lockClock{p, WallClock}.when(time.Unix(0, int64(t)), f)
}

// Crash ends a client process, and records it.
func (w *World) Crash(client *Process) error {
	if client.dead {
		return fmt.Errorf("sim: crash: %s has crashed already", client.name)
	}
	client.Crash()
	w.Record(history.Event{Kind: history.Crash, Process: client.name})
	return nil
}
