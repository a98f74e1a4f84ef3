package sim

import (
	"redlocksim/history"
)

// StorageKind is what the shared resource demands of a request before it takes it.
type StorageKind uint8

const (
	// Register takes everything. The zero value.
	Register StorageKind = iota
	// Fenced refuses reads and writes with a lower token than the highest it has seen (Kleppmann 2016).
	Fenced
	// FencedWrites does so for writes only; it does not look at the tokens of reads.
	FencedWrites
	// CompareAndSet takes a write only of the client whose mark it holds: antirez' proposal, with the lock's random value
	// as the mark, which every client may set.
	CompareAndSet
	// Table takes a write whose token is higher than that of the last write: UPDATE … WHERE last_token < ?.
	Table
)

// Storage is the shared resource that the lock guards: a process of its own on the network, with a number per resource.
// It does not know about locks; the history records when it took a request, or turned it down.
type Storage struct {
	*Process
	world *World
	kind  StorageKind
	cells map[string]*cell
	links map[*Process]*Link
}

// cell is what the storage keeps of one resource.
type cell struct {
	number int64
	token  int64 // the highest seen, or of the last write, by kind
	mark   int64
}

func newStorage(w *World, kind StorageKind) *Storage {
	return &Storage{Process: w.Kernel.newProcess(StorageName), world: w, kind: kind, cells: map[string]*cell{}, links: map[*Process]*Link{}}
}

func (s *Storage) connect(client *Process, latency Latency) {
	s.links[client] = s.world.Network.connect(client, s.Process, latency,
		func(x *Exchange) { x.end.(*access).serve(s) }, func() presence { return listening })
}

// takes says whether a request may have its effect, and notes its token.
func (s *Storage) takes(c *cell, e *history.Event) bool {
	switch s.kind {
	case FencedWrites:
		if e.Func == history.Read {
			return true
		}
		fallthrough
	case Fenced:
		if e.Token < c.token {
			return false
		}
		c.token = e.Token
	case CompareAndSet:
		return e.Func != history.Write || c.mark == int64(e.Grant)
	case Table:
		if e.Func != history.Write {
			return true
		}
		if e.Token <= c.token {
			return false
		}
		c.token = e.Token
	}
	return true
}

// access is one request to the storage.
type access struct {
	Exchange
	event  history.Event // the effect it has
	broken bool
	waiter waiter
}

func (a *access) serve(s *Storage) {
	c := s.cells[a.event.Resource]
	if c == nil {
		c = &cell{}
		s.cells[a.event.Resource] = c
	}
	a.event.Outcome = history.OK
	switch {
	case !s.takes(c, &a.event):
		a.event.Outcome = history.Failed
	case a.event.Func == history.Read:
		a.event.Number = c.number
	case a.event.Func == history.Write:
		c.number = a.event.Number
	case a.event.Func == history.Mark:
		c.mark = a.event.Number
	}
	s.world.Record(a.event)
	a.Exchange.Reply()
}

// Purpose implements Purposeful.
func (a *access) Purpose() string { return string(a.event.Func) }

func (a *access) Answered() { a.waiter.Wake() }

func (a *access) Broken() {
	a.broken = true
	a.waiter.Wake()
}

// Do sends a request to the storage and waits for the answer: e has Func Read, Write or Mark, Op, Grant and Resource, the
// Number to write, and the Token where there is one. It returns the event as the storage recorded it; its Outcome is
// Unknown where the connection broke. key says what the request is for.
func (s *Storage) Do(client *Process, key Key, e history.Event) history.Event {
	e.Kind, e.Process = history.Effect, client.name
	a := &access{event: e, waiter: waiter{process: client}}
	s.links[client].Open(&a.Exchange, key, a)
	a.waiter.Wait(background)
	if a.broken {
		a.event.Outcome = history.Unknown
	}
	return a.event
}
