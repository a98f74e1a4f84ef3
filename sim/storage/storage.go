// Package storage is the shared resource that a lock guards, with what it may demand of requests against clients that believe
// wrongly that they hold the lock.
package storage

import (
	"context"
	"errors"

	"redlocksim/redlock/driver"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Kind is what the shared resource demands of a request before it takes it.
type Kind uint8

const (
	// Register takes everything. The zero value.
	Register Kind = iota
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

// words are the names of kinds in scenario files, by their numbers.
var words = [...]string{Register: "register", Fenced: "fenced", FencedWrites: "fenced-writes", CompareAndSet: "compare-and-set", Table: "table"}

func (k Kind) String() string { return words[k] }

// Storage is the shared resource that the lock guards: a process of its own on the network, with a number per resource.
// It does not know about locks; the history records when it took a request, or turned it down.
type Storage struct {
	*kernel.Process
	network *network.Network
	record  func(history.Event)
	cells   Cells
	links   map[string]*network.Link // by the client's name
	drawn   int64                    // the last number of the sequence
}

// cell is what the storage keeps of one resource.
type cell struct {
	number int64
	token  int64 // the highest seen, or of the last write, by kind
	mark   int64
}

// Name is the name of the storage's process.
const Name = "storage"

// New makes the storage, which gives record every request that it has taken or turned down.
func New(k *kernel.Kernel, n *network.Network, kind Kind, record func(history.Event)) *Storage {
	return &Storage{Process: k.NewProcess(Name, kernel.Monotonic), network: n, record: record, cells: NewCells(kind),
		links: map[string]*network.Link{}}
}

// Connect makes the link of a client to the storage, which is always up.
func (s *Storage) Connect(client *kernel.Process, latency network.Latency) {
	s.links[client.Name()] = s.network.Connect(client, s.Process, latency,
		func(x *network.Exchange) { x.Client().(served).serve(s) }, func() network.Presence { return network.Listening })
}

// served is a request to the storage.
type served interface{ serve(*Storage) }

// Cells are what a storage of a kind keeps of each resource. Make them with NewCells.
type Cells struct {
	kind  Kind
	cells map[string]*cell
}

// NewCells makes those of a storage that nobody has used.
func NewCells(kind Kind) Cells { return Cells{kind, map[string]*cell{}} }

// Take gives a request its effect, or turns it down: it sets the Outcome, and the Number that is read.
func (c *Cells) Take(e *history.Event) {
	x := c.cells[e.Resource]
	if x == nil {
		x = &cell{}
		c.cells[e.Resource] = x
	}
	e.Outcome = history.OK
	switch {
	case !c.kind.takes(x, e):
		e.Outcome = history.Failed
	case e.Func == history.Read:
		e.Number = x.number
	case e.Func == history.Write:
		x.number = e.Number
	case e.Func == history.Mark:
		x.mark = e.Number
	}
}

// takes says whether a request may have its effect, and notes its token.
func (k Kind) takes(c *cell, e *history.Event) bool {
	switch k {
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
		return e.Func != history.Write || e.Grant != 0 && c.mark == int64(e.Grant)
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
	network.Exchange
	event  history.Event // the effect it has
	broken bool
	waiter driver.Waiter
}

func (a *access) serve(s *Storage) {
	s.cells.Take(&a.event)
	s.record(a.event)
	a.Exchange.Reply()
}

// Purpose implements Purposeful.
func (a *access) Purpose() string { return string(a.event.Func) }

func (a *access) Answered() { a.waiter.Wake() }

func (a *access) Broken() {
	a.broken = true
	a.waiter.Wake()
}

// draw is a request for the next number of the sequence.
type draw struct {
	network.Exchange
	number int64
	broken bool
	waiter driver.Waiter
}

func (d *draw) serve(s *Storage) {
	s.drawn++
	d.number = s.drawn
	d.Exchange.Reply()
}

// Purpose implements Purposeful.
func (d *draw) Purpose() string { return "draw" }

func (d *draw) Answered() { d.waiter.Wake() }

func (d *draw) Broken() {
	d.broken = true
	d.waiter.Wake()
}

// Draw asks the storage for a number that is higher than all that it gave before, as the sequence of a database gives it, and
// waits for it until ctx ends. key says what the request is for.
func (s *Storage) Draw(ctx context.Context, client *kernel.Process, key kernel.Key) (int64, error) {
	d := &draw{waiter: client.Tasks().NewWaiter()}
	s.links[client.Name()].Open(&d.Exchange, key, d)
	for d.number == 0 && !d.broken && ctx.Err() == nil {
		d.waiter.Wait(ctx)
	}
	d.Abandon()
	switch {
	case d.broken:
		return 0, errors.New("storage: the connection broke")
	case d.number == 0:
		return 0, ctx.Err()
	}
	return d.number, nil
}

// Do sends a request to the storage and waits for the answer: e has Func Read, Write or Mark, Op, Grant and Resource, the
// Number to write, and the Token where there is one. It returns the event as the storage recorded it; its Outcome is
// Unknown where the connection broke. key says what the request is for.
func (s *Storage) Do(client *kernel.Process, key kernel.Key, e history.Event) history.Event {
	e.Kind, e.Process = history.Effect, client.Name()
	a := &access{event: e, waiter: client.Tasks().NewWaiter()}
	s.links[e.Process].Open(&a.Exchange, key, a)
	a.waiter.Wait(context.Background())
	if a.broken {
		a.event.Outcome = history.Unknown
	}
	return a.event
}
