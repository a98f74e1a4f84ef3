package monitor

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
)

// timers looks whether a client that is closed has left a timer behind: each keeps what it is for alive, and there can be one
// for every lock that was ever taken. Leases that go on have theirs, and calls that are under way.
type timers struct {
	run *Run
	of  map[string]*atWork // by client
}

// atWork is what a client's timers may be for.
type atWork struct {
	calls  int // that have not returned, calls that do work among them
	leases []protocols.Lease
}

func watchTimers(r *Run) {
	if !r.isLibrary() {
		return
	}
	x := &timers{run: r, of: map[string]*atWork{}}
	begins := func(client string, n int) { x.client(client).calls += n }
	r.onCall = append(r.onCall, func(c *protocols.Call) { begins(c.Client, 1) })
	r.onReturn = append(r.onReturn, x.returned)
	r.onWork = append(r.onWork, func(w *protocols.Work) { begins(w.Client, 1) })
	r.onWorked = append(r.onWorked, func(w *protocols.Work, _ error) { begins(w.Client, -1) })
	r.onCrash = append(r.onCrash, func(client string) { delete(x.of, client) })
}

func (x *timers) client(name string) *atWork {
	if x.of[name] == nil {
		x.of[name] = &atWork{}
	}
	return x.of[name]
}

func (x *timers) returned(c *protocols.Call, err error) {
	of := x.client(c.Client)
	of.calls--
	switch {
	case c.Func == protocols.AcquireCall && err == nil:
		of.leases = append(of.leases, c.Lease)
	case c.Func == protocols.CloseCall && err == nil && c.Context != nil && c.Context.Done() == nil:
		x.closed(c, of)
	}
}

// closed judges a client that has nothing left to do. Of two clients of a process nobody knows whose a timer is.
func (x *timers) closed(c *protocols.Call, of *atWork) {
	of.leases = slices.DeleteFunc(of.leases, func(l protocols.Lease) bool { return l.Context().Err() != nil })
	if of.calls > 0 || len(of.leases) > 0 || x.run.clients.number(c.Client) > 0 {
		return
	}
	x.run.Judged[checker.JudgeTimers]++
	if n := x.run.World.Client(c.Client).Armed(); n > 0 {
		x.run.broken(checker.Contract, x.run.subjectOf(c), "%s is closed, has no lease and is doing nothing, and has timers left: %d", c.Client, n)
	}
}
