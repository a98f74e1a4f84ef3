package rules

import (
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

var pausesRule = Rule{
	Name:  "pauses",
	Kind:  checker.BusyWait,
	Needs: "a request of a client that waits for a lock",
	Doc: `
A client that waits for a lock sends no more than a hundred requests to a node without a pause of a millisecond. How long a
lock should pause is not judged. A client pauses when it neither sends nor hears anything, is told something that it did not
ask for, or, in scenario files, is refused a connection. On tier live the proxies count what a lock program sends within a
hundred milliseconds. (All locks; the library only if its own delays are shorter than that.)`,
	Holds: "%s of clients that waited for the lock came with pauses between them",
	Each:  "request",
	Idle:  "nobody waited for the lock, or nobody looked",
	New:   watchPauses,
}

// pauses judges that a client which waits for a lock pauses between its requests. One that asks again as soon as it was
// refused keeps the nodes busy for as long as somebody else has the lock. How long a lock should pause is its own affair: what
// counts as a pause, and how many requests may do without, is chosen so that no attempt comes near it. Package live judges lock
// programs on real servers by the same numbers.
type pauses struct {
	*watch
	open []*busyWait // in the order in which they began
}

const (
	// LeastPause is shorter than any delay that somebody chooses.
	LeastPause = time.Millisecond
	// RequestsInARow are more than some attempts send to a node that are made at once, in the hope that the lock is held
	// briefly, even if each has three commands with a connection of their own, which is opened and closed.
	RequestsInARow = 100
)

// busyWait is a call that has not returned, and what its client has sent since it last paused, or was last told something that
// it had not asked for, such as that the lock is free.
type busyWait struct {
	*call
	isAlone bool        // no other call of the client was under way
	last    kernel.Mono // when the client last sent or heard something
	sent    map[*network.Link]*requests
}

// requests is how many requests were sent to a node, and how many have no answer: which of them, nobody looks.
type requests struct{ made, open int }

func watchPauses(r *watch) {
	if r.isLibrary() && protocols.Of[protocols.RedlockSettings](r.Lock).Span().Max >= LeastPause {
		return // it waits for as long as the specification says
	}
	x := &pauses{watch: r}
	follow(r.Run, &x.open, x.called, func(*busyWait, error) {})
	r.onRequest(x.sent)
	r.onHeard(x.heard)
}

func (p *pauses) called(c *call) *busyWait {
	this := &busyWait{call: c, isAlone: true, last: c.client.Mono(), sent: map[*network.Link]*requests{}}
	for _, other := range p.open {
		if other.client == c.client {
			this.isAlone, other.isAlone = false, false
		}
	}
	return this
}

func (p *pauses) sent(m network.Sent) {
	for _, w := range p.open {
		if w.client != m.From() {
			continue
		}
		if w.acts() >= LeastPause {
			clear(w.sent)
		}
		to := w.sent[m.Link()]
		if to == nil {
			to = &requests{}
			w.sent[m.Link()] = to
		}
		to.made++
		to.open++
		if !w.Waits || !w.isAlone {
			continue
		}
		if p.judged++; to.made > RequestsInARow {
			p.broken(w.Resources[0], "%s has sent %d requests to %s without a pause of %v, while it waits for the lock", w.Client,
				to.made, m.Link().Server().Name(), LeastPause)
			clear(w.sent)
		}
	}
}

func (p *pauses) heard(m network.Ended) {
	for _, w := range p.open {
		if w.client != m.From() {
			continue
		}
		idle, to := w.acts(), w.sent[m.Link()]
		switch {
		case m.Kind == network.RefusalMessage && !p.Foreign:
			// Protocols do not model how Redis clients wait for a connection.
			clear(w.sent)
		case to != nil && to.open > 0:
			to.open--
		case idle >= LeastPause: // it has waited to be told something
			clear(w.sent)
		}
	}
}

// acts takes that the client sends or hears something, and returns how long it had done neither.
func (w *busyWait) acts() time.Duration {
	idle := time.Duration(w.client.Mono() - w.last)
	w.last = w.client.Mono()
	return idle
}
