package faults

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/sim/network"
)

// Partition loses all messages on some links, including those in flight. TCP would retransmit them until its connection is
// given up: use hold for a partition after which they arrive.
type Partition struct {
	Links `yaml:",inline"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for"`
}

// CutOff is how histories name a partition that keeps all requests of a client from all Redis nodes: a holder that is cut
// off cannot release. A partition of several clients is recorded as such, and a cut-off for each of them after it.
const CutOff = "cut-off"

var partition = Kind{
	Name: "partition", New: func() Fault { return new(Partition) },
	Target: SomeLinks, Routes: true, Ends: "partition-heals",
	Draw: func(c Choices, l *Limits) Fault {
		p := &Partition{Links: l.links(c)}
		if c.For("for good", 0).Below(8) != 7 {
			p.For = l.Times.Length(c.For("for", 0), minOutage, 2*l.Scale)
		}
		return p
	},
	Place: func(l *Limits) (all []Fault) {
		for _, links := range l.allLinks() {
			all = append(all, &Partition{Links: links}, &Partition{Links: links, For: l.Scale})
		}
		return all
	},
}

func (p *Partition) String() string { return fmt.Sprintf("messages %v are lost", &p.Links) }

// Check implements Fault.
func (p *Partition) Check(n Names) []Problem { return append(p.check(n), notNegative("for", p.For)...) }

// cutsOff says whether the links are those to all nodes that clients address, and requests are lost.
func (l *Links) cutsOff(nodes []string) bool {
	if l.Direction == network.Replies || len(l.Peers) > 0 {
		return false
	}
	return len(l.Nodes) == 0 || !slices.ContainsFunc(nodes, func(n string) bool { return !slices.Contains(l.Nodes, n) })
}

// Inject implements Fault.
func (p *Partition) Inject(f *Field) error {
	undo := f.ground.Lose(&p.Links)
	switch {
	case !p.cutsOff(f.ground.Nodes()):
		f.note("partition", p.client(), "", p.For, "%v", p)
	case p.client() != "":
		f.note(CutOff, p.client(), "", p.For, "%v", p)
	default:
		f.note("partition", "", "", p.For, "%v", p)
		clients := p.Clients
		if len(clients) == 0 {
			clients = f.ground.Clients()
		}
		for _, c := range clients {
			f.ground.Record(history.Event{Kind: history.Fault, Name: CutOff, Process: c, Span: int64(p.For)})
		}
	}
	f.lasts(p.For, func() {
		undo()
		f.note("partition-heals", p.client(), "", 0, "messages %v get through again", &p.Links)
	})
	return nil
}

// Size implements Fault: its lists are shortened, and how long it lasts.
func (p *Partition) Size() *Size { return nil }

// Live implements Fault.
func (p *Partition) Live(Deployment) Live { return Live{Silence: p.For} }
