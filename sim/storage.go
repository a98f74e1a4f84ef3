package sim

import (
	"redlocksim/history"
)

// Storage is the shared resource that the lock guards: a process of its own on the network, with a number per resource.
// It does not know about locks: it takes every request, and the history records when.
type Storage struct {
	*Process
	world   *World
	numbers map[string]int64
	links   map[*Process]*Link
}

func newStorage(w *World) *Storage {
	return &Storage{Process: w.Kernel.newProcess(StorageName), world: w, numbers: map[string]int64{}, links: map[*Process]*Link{}}
}

func (s *Storage) connect(client *Process, latency Latency) {
	s.links[client] = s.world.Network.connect(client, s.Process, latency,
		func(x *Exchange) { x.end.(*access).serve(s) }, func() presence { return listening })
}

// access is one request to the storage.
type access struct {
	Exchange
	event  history.Event // the effect it has
	number int64
	broken bool
	waiter waiter
}

func (a *access) serve(s *Storage) {
	switch a.event.Func {
	case history.Read:
		a.event.Number = s.numbers[a.event.Resource]
	case history.Write:
		s.numbers[a.event.Resource] = a.event.Number
	}
	a.event.Outcome = history.OK
	a.number = a.event.Number
	s.world.Record(a.event)
	a.Exchange.Reply()
}

func (a *access) Answered() { a.waiter.Wake() }

func (a *access) Broken() {
	a.broken = true
	a.waiter.Wake()
}

// Read asks the storage for the number of a resource, under a grant (the Op of its acquire), and waits for the answer.
func (s *Storage) Read(client *Process, op, grant int, resource string) (int64, history.Outcome) {
	return s.access(client, history.Event{Kind: history.Effect, Func: history.Read, Op: op, Grant: grant, Resource: resource})
}

// Write has the storage set the number of a resource and waits for the answer. Where the connection breaks it is
// unknown whether it happened.
func (s *Storage) Write(client *Process, op, grant int, resource string, number int64) history.Outcome {
	_, outcome := s.access(client, history.Event{Kind: history.Effect, Func: history.Write, Op: op, Grant: grant, Resource: resource, Number: number})
	return outcome
}

func (s *Storage) access(client *Process, e history.Event) (int64, history.Outcome) {
	e.Process = client.name
	a := &access{event: e, waiter: waiter{process: client}}
	key := s.k.Draw("storage").WithString(client.name).With(uint64(e.Grant)).With(uint64(e.Op))
	s.links[client].Open(&a.Exchange, key, a)
	a.waiter.Wait(background)
	if a.broken {
		return 0, history.Unknown
	}
	return a.number, history.OK
}
