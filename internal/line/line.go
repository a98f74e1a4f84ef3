// Package line has the callers of one process that want the same stand in line, first come, first served. Only the first of
// them asks the nodes, so what a grant costs those does not depend on how many wait.
package line

import "redlocksim/redlock/driver"

// Line is callers in the order in which they came. A lock of its owner's guards it and the places in it.
type Line struct{ first, last *Place }

// Place is where a call stands.
type Place struct {
	Waiter         driver.Waiter // nil until the call has to wait
	before, behind *Place
}

// Join puts a call at the end. It must leave.
func (l *Line) Join(p *Place) {
	p.before, p.behind = l.last, nil
	if l.last == nil {
		l.first = p
	} else {
		l.last.behind = p
	}
	l.last = p
}

// Leave takes a call out.
func (l *Line) Leave(p *Place) {
	if p.before == nil {
		l.first = p.behind
	} else {
		p.before.behind = p.behind
	}
	if p.behind == nil {
		l.last = p.before
	} else {
		p.behind.before = p.before
	}
}

// IsFirst says that all others stand behind a call.
func (l *Line) IsFirst(p *Place) bool { return l.first == p }

// IsEmpty says that nobody stands in it.
func (l *Line) IsEmpty() bool { return l.first == nil }

// Wake has the first caller look whether it may ask, if it waits.
func (l *Line) Wake() {
	if l.first != nil && l.first.Waiter != nil {
		l.first.Waiter.Wake()
	}
}
