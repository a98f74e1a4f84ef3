// Package storage is the shared resource that a lock guards, with what it may demand of requests against clients that believe
// wrongly that they hold the lock.
package storage

import (
	"context"
	"errors"
	"slices"
	"time"

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
	// Versioned takes a write only if nothing was written since its client learned the version, an optimistic lock: UPDATE …
	// SET version = version + 1 WHERE version = ?.
	Versioned
)

// kinds are what scenario files call each kind, and what a request must carry for a storage of the kind to compare it.
var kinds = [...]struct{ word, needs string }{Register: {"register", ""}, Fenced: {"fenced", "token"}, FencedWrites: {"fenced-writes", "token"},
	CompareAndSet: {"compare-and-set", "mark"}, Table: {"table", "token"}, Versioned: {"version", "version"}}

func (k Kind) String() string { return kinds[k].word }

// Needs is what a request must carry for the storage to compare it: a token, a mark or a version; empty if it compares nothing.
func (k Kind) Needs() string { return kinds[k].needs }

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
	// current are the operations that returned the version which the resource has: the last write and the reads after it.
	current []int
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
		func(x *network.Exchange) { x.Client().(*request).serve(); x.Reply() }, func() network.Presence { return network.Listening })
}

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
		x.number, x.current = e.Number, nil
	case e.Func == history.Mark:
		x.mark = e.Number
	}
	if c.kind == Versioned && e.Outcome == history.OK {
		x.current = append(x.current, e.Op)
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
	case Versioned:
		return e.Func != history.Write || slices.Contains(c.current, e.Basis)
	}
	return true
}

// request is one to the storage.
type request struct {
	network.RoundTrip
	purpose string
	serve   func()
	broken  bool
}

// Purpose implements Purposeful.
func (r *request) Purpose() string { return r.purpose }

// Broken implements Client.
func (r *request) Broken() {
	r.broken = true
	r.Answered()
}

// ask has the storage serve a request, and waits for the answer until ctx ends. key says what the request is for.
func (s *Storage) ask(ctx context.Context, client *kernel.Process, key kernel.Key, purpose string, serve func()) error {
	r := &request{purpose: purpose, serve: serve}
	if !r.Await(ctx, s.links[client.Name()], key, time.Time{}, r) {
		return ctx.Err()
	}
	if r.broken {
		return errors.New("storage: the connection broke")
	}
	return nil
}

// Draw asks the storage for a number that is higher than all that it gave before, as the sequence of a database gives it, and
// waits for it until ctx ends. key says what the request is for.
func (s *Storage) Draw(ctx context.Context, client *kernel.Process, key kernel.Key) (number int64, err error) {
	err = s.ask(ctx, client, key, "draw", func() {
		s.drawn++
		number = s.drawn
	})
	if err != nil {
		return 0, err
	}
	return number, nil
}

// Drawn is the last number that it gave; 0 if it gave none.
func (s *Storage) Drawn() int64 { return s.drawn }

// Do sends a request to the storage and waits for the answer: e has Func Read, Write or Mark, Op, Grant and Resource, the
// Number to write, and the Token where there is one. A write to a Versioned storage has as its Basis the operation that
// returned the version it goes by. It returns the event as the storage recorded it; its Outcome is
// Unknown where the connection broke. key says what the request is for.
func (s *Storage) Do(client *kernel.Process, key kernel.Key, e history.Event) history.Event {
	e.Kind, e.Process = history.Effect, client.Name()
	if s.ask(context.Background(), client, key, string(e.Func), func() {
		s.cells.Take(&e)
		s.record(e)
	}) != nil {
		e.Outcome = history.Unknown
	}
	return e
}
