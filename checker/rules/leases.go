package rules

import (
	"slices"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// granted is a lease that a client was granted.
type granted struct {
	protocols.Lease
	by      *call // the acquire
	release *call // the first that is to give it back; nil if none has begun
	isBack  bool  // a release has returned
	gave    error // what the last release returned
	isOver  bool  // its client believes in it no more, as the history has it: the lease has run out or is known to be lost
}

// isOn says whether it is a client's, on a resource.
func (g *granted) isOn(of claim) bool {
	return g.by.Client == of.client && slices.Contains(g.by.Resources, of.resource)
}

// claim is a client that asks for a resource, or has a lease on it.
type claim struct{ client, resource string }

// leases are those of a run, by what calls returned, and by what the history says of the beliefs of clients.
type leases struct {
	*Run
	of   map[protocols.Lease]*granted // all that there ever were
	held []*granted                   // whose client has neither crashed nor had a release return, in the order of the grants
	// over are the acquires by whose grants nobody holds anything any more, perhaps before they return.
	over map[int]bool
	// tells are told of the acquire when somebody has a lease, or has one no more that was not over.
	tells []func(acquire *call)
}

// watch comes before the rules, so that they find leases as they are after what they are told of.
func (l *leases) watch() {
	l.onCall(func(c *call) {
		if g := l.of[c.Lease]; g != nil && g.release == nil && c.Func == protocols.ReleaseCall {
			g.release = c
		}
	})
	l.onReturn(l.returned)
	l.onEvent(func(e *history.Event) {
		if e.Kind == history.Expire || e.Name == lost {
			l.over[e.Grant] = true
			if g := l.grantedBy(e.Grant); g != nil && !g.isOver {
				g.isOver = true
				l.tell(g)
			}
		}
	}, history.Expire, history.Step)
	l.onCrash(func(client string) {
		for _, g := range slices.Backward(slices.Clone(l.held)) {
			if g.by.Client == client {
				l.drop(g)
			}
		}
	})
}

func (l *leases) returned(c *call, err error) {
	switch g := l.of[c.Lease]; {
	case c.Func == protocols.AcquireCall && c.Lease != nil:
		g = &granted{Lease: c.Lease, by: c, isOver: slices.ContainsFunc(c.Grants, func(acquire int) bool { return l.over[acquire] })}
		l.of[c.Lease], l.held = g, append(l.held, g)
		if !g.isOver {
			l.tell(g)
		}
	case c.Func == protocols.ReleaseCall && g != nil:
		g.isBack, g.gave = true, err
		l.drop(g)
	}
}

// drop takes a lease away from who has it.
func (l *leases) drop(g *granted) {
	i := slices.Index(l.held, g)
	if i < 0 {
		return
	}
	if l.held = slices.Delete(l.held, i, i+1); !g.isOver {
		l.tell(g)
	}
}

func (l *leases) tell(g *granted) {
	for _, tell := range l.tells {
		tell(g.by)
	}
}

// grantedBy is the lease of a grant, by the acquire; nil if nobody has it.
func (l *leases) grantedBy(acquire int) *granted {
	if i := slices.IndexFunc(l.held, func(g *granted) bool { return slices.Contains(g.by.Grants, acquire) }); i >= 0 {
		return l.held[i]
	}
	return nil
}

// count is how many leases a client has on a resource.
func (l *leases) count(of claim) (n int) {
	for _, g := range l.held {
		if g.isOn(of) {
			n++
		}
	}
	return n
}
