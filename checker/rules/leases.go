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
	// before and after are called around each change of who has a lease that is not over, with its acquire.
	before, after []func(*call)
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
			if g := l.grantedBy(e.Grant); g != nil {
				l.changes(g, func() { g.isOver = true })
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

// onHeld has a rule told before and after somebody gets a lease, or has one no more that was not over.
func (r *Run) onHeld(before, after func(acquire *call)) {
	r.leases.before, r.leases.after = append(r.leases.before, before), append(r.leases.after, after)
}

func (l *leases) returned(c *call, _ error) {
	switch {
	case c.Lease == nil:
	case c.Func == protocols.AcquireCall:
		g := &granted{Lease: c.Lease, by: c, isOver: slices.ContainsFunc(c.Grants, func(acquire int) bool { return l.over[acquire] })}
		l.of[c.Lease] = g
		l.changes(g, func() { l.held = append(l.held, g) })
	case c.Func == protocols.ReleaseCall:
		l.drop(l.of[c.Lease])
	}
}

// drop takes a lease away that is held.
func (l *leases) drop(g *granted) {
	if i := slices.Index(l.held, g); i >= 0 {
		l.changes(g, func() { l.held = slices.Delete(l.held, i, i+1) })
	}
}

// changes makes a change to a lease.
func (l *leases) changes(g *granted, does func()) {
	if g.isOver {
		does()
		return
	}
	for _, tell := range l.before {
		tell(g.by)
	}
	does()
	for _, tell := range l.after {
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
