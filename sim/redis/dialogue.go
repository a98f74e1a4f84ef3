package redis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Overhear has tell given, line by line, all that passes between the libraries of clients and the nodes: what is asked and how,
// what a request changes, and what each library is told of it. A run has the same lines on all tiers, where its history may be
// the same although an adapter or a script does something else, which would have mattered only to somebody who came by.
func (d *Deployment) Overhear(tell func(line string)) {
	d.dialogue = &dialogue{kernel: d.kernel, tell: tell}
	d.OnApplied(d.dialogue.changed)
	d.network.Observe(d.dialogue)
}

// Phrased is the client's end of an exchange of the library, which can say how it asks for what it wants.
type Phrased interface {
	network.Client
	// Phrases are the requests of the message; nil if it is not the library's.
	Phrases() []Phrase
}

// Phrase is how a request of the library is put.
type Phrase struct {
	// Command is SET, EVAL or EVALSHA.
	Command string
	// Keys is how many keys it names.
	Keys int
}

// dialogue is what Overhear tells of.
type dialogue struct {
	kernel  *kernel.Kernel
	tell    func(line string)
	line    []byte   // memory for it
	changes []Change // of the request that is being carried out
}

func (d *dialogue) say(format string, args ...any) {
	d.line = fmt.Appendf(fmt.Append(d.line[:0], d.kernel.Now(), " "), format, args...)
	d.tell(string(d.line))
}

// Sent implements network.Observer.
func (d *dialogue) Sent(x *network.Exchange, kind network.MessageKind) {
	p, is := x.Client().(Phrased)
	if !is || kind != network.RequestMessage {
		return
	}
	if phrases := p.Phrases(); phrases != nil {
		d.say("%s asks %s: %v", x.From().Name(), x.Link().Server().Name(), phrases)
	}
}

// Ended implements network.Observer.
func (d *dialogue) Ended(*network.Exchange, network.MessageKind, network.Fate, string) {}

func (d *dialogue) changed(a *Applied) { d.changes = append(d.changes, a.Change) }

// served tells what the request has changed that was carried out: each key once, in whatever order a tier changes them.
func (d *dialogue) served(s *Server) {
	slices.SortStableFunc(d.changes, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	for i := 0; i < len(d.changes); {
		first, last := d.changes[i], d.changes[i]
		for ; i < len(d.changes) && d.changes[i].Key == first.Key; i++ {
			last = d.changes[i]
		}
		if first.Before != last.After {
			d.say("%s has %v for %v", s.Name(), last.After, first.Before)
		}
	}
	d.changes = d.changes[:0]
}

// overheard is a command whose reply is told of before the library takes it.
func (d *dialogue) overheard(client, node string, c *driver.Command) *driver.Command {
	o := *c
	o.Done = func(_ *driver.Command, r driver.Reply) {
		d.say("%s tells %s of %v %v round %d: %v %d %q %s", node, client, c.Op, c.Keys, c.Round, r.Outcome, r.Token, r.Record, reason(r))
		c.Done(c, r)
	}
	return &o
}

// reason is why a node failed. Why nothing came of a request is put in other words on each tier.
func reason(r driver.Reply) string {
	if r.Outcome != driver.Failed || r.Err == nil {
		return ""
	}
	if e := (*driver.MaxTTLError)(nil); errors.As(r.Err, &e) {
		return e.Error()
	}
	return r.Err.Error()
}
