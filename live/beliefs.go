package live

import (
	"slices"

	"redlocksim/history"
	"redlocksim/internal/faketime"
)

// window is a grant that its client believes in.
type window struct {
	process  string
	resource string
	grant    int
	until    int64 // by the lock clock
	ends     int64 // CLOCK_MONOTONIC, unless the clock is changed
}

// beliefs are the grants that clients believe in, according to the entries so far. A believed window ends when the lock clock
// first reads its last acknowledged expiry, whether or not its client is running.
type beliefs struct {
	clocks map[string]faketime.Skew // the lock clocks by client, except those that are CLOCK_MONOTONIC
	open   []window
}

func newBeliefs() *beliefs { return &beliefs{clocks: map[string]faketime.Skew{}} }

// take learns from an entry. Windows that ended before it must have been removed.
func (b *beliefs) take(e entry) {
	switch {
	case e.belief != nil:
		b.open = slices.DeleteFunc(b.open, func(w window) bool { return w.grant == e.belief.Grant })
		if e.belief.Until != 0 {
			w := window{process: e.process, resource: e.belief.Resource, grant: e.belief.Grant, until: e.belief.Until}
			w.ends = max(b.clocks[e.process].When(w.until), e.at)
			b.open = append(b.open, w)
		}
	case e.clock != nil:
		b.clocks[e.process] = *e.clock
		for i := range b.open {
			if w := &b.open[i]; w.process == e.process {
				w.ends = max(e.clock.When(w.until), e.at)
			}
		}
	case e.event != nil && e.event.Kind == history.Crash:
		b.open = slices.DeleteFunc(b.open, func(w window) bool { return w.process == e.process })
	}
}

// over removes the window that ended first, if one has ended by now.
func (b *beliefs) over(now int64) (window, bool) {
	first := b.first()
	if first < 0 || b.open[first].ends > now {
		return window{}, false
	}
	w := b.open[first]
	b.open = slices.Delete(b.open, first, first+1)
	return w, true
}

// next is when the next window ends; Never if none does.
func (b *beliefs) next() int64 {
	if first := b.first(); first >= 0 {
		return b.open[first].ends
	}
	return faketime.Never
}

// first is the window that ends first; -1 if there is none.
func (b *beliefs) first() int {
	first := -1
	for i, w := range b.open {
		if first < 0 || w.ends < b.open[first].ends {
			first = i
		}
	}
	return first
}
