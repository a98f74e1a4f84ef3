package checker

import (
	"fmt"
	"slices"
	"sort"

	"redlocksim/checker/internal/exclusion"
	"redlocksim/history"
)

// hold is a stretch in which the client of a grant certainly believed in the lock: its minimal hold, from the return of
// the acquire, or of the extend that opened the window again, to the end of the believed window.
type hold struct {
	span
	grant int
	// call is the Seq of the call whose return is from.
	call int
}

// confirmation is an extend or release that succeeded on an acquire of unknown outcome: the lock was held at some
// instant inside it.
type confirmation struct {
	span
	grant int
}

// leases are what the clients of a history believed.
type leases struct {
	// windows are the holds of all grants, by Op and then by beginning; those of a grant begin at its place in first.
	windows []span
	first   []int
	// holds are those of each resource, in the order in which they began.
	holds map[string][]hold
	// confirmations are those of each resource, in the order in which they returned.
	confirmations map[string][]confirmation
}

// believe finds the windows in which clients believed in their grants.
//
// A client believes in a grant after the return of its acquire, until it releases it or crashes, while the last of its Expire
// and successful Extend events, if any, is an Extend. If the client was paused and an Expire comes before the return, there may
// be no such time.
func believe(t *transcript) *leases {
	l := &leases{
		holds:         map[string][]hold{},
		confirmations: map[string][]confirmation{},
	}
	type belief struct {
		returned, expired, over bool
		open                    int32 // the hold that has no end yet, its place from 1 in the resource's
	}
	beliefs := make([]belief, len(t.ops))
	alive := map[string][]int{}
	settle := func(grant, call, seq int) {
		b, o := &beliefs[grant], &t.ops[grant]
		believed := b.returned && !b.expired && !b.over
		holds := l.holds[o.resource]
		if believed && b.open == 0 {
			l.holds[o.resource] = append(holds, hold{span{seq, forever}, grant, call})
			b.open = int32(len(holds) + 1)
		}
		if !believed && b.open != 0 {
			holds[b.open-1].to = seq
			b.open = 0
		}
	}
	for e := range t.Events() {
		switch {
		case e.Kind == history.Call && e.Func == history.Acquire:
			alive[e.Process] = append(alive[e.Process], e.Op)
		case e.Kind == history.Call && e.Func == history.Release:
			grant := t.ops[e.Op].grant
			beliefs[grant].over = true
			settle(grant, 0, e.Seq)
		case e.Kind == history.Return && e.Outcome == history.OK:
			o := &t.ops[e.Op]
			switch o.fn {
			case history.Acquire:
				beliefs[e.Op].returned = true
				settle(e.Op, o.call, e.Seq)
			case history.Extend:
				beliefs[o.grant].expired = false
				settle(o.grant, o.call, e.Seq)
				l.confirm(t, o)
			case history.Release:
				l.confirm(t, o)
			}
		case e.Kind == history.Expire:
			beliefs[e.Grant].expired = true
			settle(e.Grant, 0, e.Seq)
		case e.Kind == history.Crash:
			for _, grant := range alive[e.Process] {
				beliefs[grant].over = true
				settle(grant, 0, e.Seq)
			}
			delete(alive, e.Process)
		}
	}
	l.sort(t)
	return l
}

// contested counts the acquires during which another process held the resource.
func (l *leases) contested(t *transcript) (n int) {
	for _, op := range t.acquires {
		o := &t.ops[op]
		holds := l.holds[o.resource]
		before := sort.Search(len(holds), func(i int) bool { return holds[i].from >= o.ret })
		for i := before - 1; i >= max(0, before-lookback); i-- {
			if h := &holds[i]; h.to > o.call && t.ops[h.grant].process != o.process {
				n++
				break
			}
		}
	}
	return n
}

// lookback is how many holds before the end of an acquire are looked at: those of others that last are among the latest, unless
// the process itself held the resource as often since.
const lookback = 8

// sort makes the windows of the holds.
func (l *leases) sort(t *transcript) {
	// A counting sort by grant.
	l.first = make([]int, len(t.ops)+1)
	for _, resource := range t.resources {
		for i := range l.holds[resource] {
			l.first[l.holds[resource][i].grant]++
		}
	}
	for i := 1; i < len(l.first); i++ {
		l.first[i] += l.first[i-1]
	}
	l.windows = make([]span, l.first[len(l.first)-1])
	for _, resource := range t.resources {
		for _, h := range slices.Backward(l.holds[resource]) {
			l.first[h.grant]--
			l.windows[l.first[h.grant]] = h.span
		}
	}
}

// of gives the windows of a grant in the order in which they began.
func (l *leases) of(grant int) []span { return l.windows[l.first[grant]:l.first[grant+1]] }

// confirm enters the successful operation o, if its acquire has an unknown outcome or none.
func (l *leases) confirm(t *transcript, o *operation) {
	acquire := &t.ops[o.grant]
	if acquire.outcome == history.Unknown || acquire.ret == forever {
		l.confirmations[acquire.resource] = append(l.confirmations[acquire.resource],
			confirmation{span{o.call, o.ret}, o.grant})
	}
}

// owners numbers those that may not hold at the same time: grants, or processes if locks are re-entrant.
func owners(t *transcript, reentrant bool) func(grant int) int {
	if !reentrant {
		return func(grant int) int { return grant }
	}
	processes := map[string]int{}
	return func(grant int) int {
		process := t.ops[grant].process
		n, ok := processes[process]
		if !ok {
			n = len(processes)
			processes[process] = n
		}
		return n
	}
}

// block is one owner's holds merged: one hold, or several of a re-entrant lock that overlap.
type block struct {
	span
	owner int
	holds []hold
}

// covering returns the longest-lasting hold of the block at seq.
func (b *block) covering(seq int) hold {
	best := b.holds[0]
	for _, h := range b.holds[1:] {
		if h.from < seq && h.to > best.to {
			best = h
		}
	}
	return best
}

// merge joins the overlapping holds of each owner. The blocks are in the order in which they begin, as the holds are.
//
// If locks are not re-entrant there is nothing to join, as the holds of a grant follow each other.
func merge(holds []hold, owner func(grant int) int, reentrant bool) []block {
	blocks := make([]block, 0, len(holds))
	last := map[int]int{}
	for i, h := range holds {
		by := owner(h.grant)
		if reentrant {
			if n, ok := last[by]; ok && h.from < blocks[n].to {
				blocks[n].to = max(blocks[n].to, h.to)
				blocks[n].holds = append(blocks[n].holds, h)
				continue
			}
			last[by] = len(blocks)
		}
		blocks = append(blocks, block{h.span, by, holds[i : i+1 : i+1]})
	}
	return blocks
}

// conflict is two stretches of different owners that should not have been at the same time.
type conflict struct {
	first, second Window
	overlap       span
	seqs          []int
}

// overlaps returns how many of a resource's holds begin, or confirmations lie, inside another owner's hold, and the
// first to be complete. Seqs are unique, so that holds never touch.
func overlaps(t *transcript, holds []hold, confirmations []confirmation, reentrant bool) (int, *conflict) {
	owner := owners(t, reentrant)
	blocks := merge(holds, owner, reentrant)
	count, first := exclusion.Find(
		len(blocks), func(i int) exclusion.Hold {
			return exclusion.Hold{From: blocks[i].from, To: blocks[i].to, Owner: blocks[i].owner}
		},
		len(confirmations), func(i int) exclusion.Hold {
			c := &confirmations[i]
			return exclusion.Hold{From: c.from, To: c.to, Owner: owner(c.grant)}
		}, 1)
	if first == nil {
		return count, nil
	}
	other := &blocks[first.Others[0]]
	if first.IsTouch {
		c := confirmations[first.Second]
		h := other.covering(c.from)
		return count, &conflict{t.windowOf(h.grant, h.span), t.windowOf(c.grant, c.span), c.span, ends(h.span, c.span)}
	}
	later := blocks[first.Second].holds[0]
	earlier := other.covering(later.from)
	return count, &conflict{
		t.windowOf(earlier.grant, earlier.span), t.windowOf(later.grant, later.span),
		span{later.from, min(earlier.to, later.to)}, ends(earlier.span, later.span),
	}
}

// compareHolds counts what there was to compare on a resource.
func (r *Report) compareHolds(t *transcript, holds []hold, twice bool) {
	for i := 1; i < len(holds); i++ {
		if t.ops[holds[i].grant].process != t.ops[holds[i-1].grant].process {
			r.Compared.Holds++
		}
	}
	if len(holds) > 1 && twice {
		r.Compared.SecondOpinions++
	}
}

// addHolds reports overlapping holds, and checks the answer with porcupine.
func (r *Report) addHolds(t *transcript, l *leases, o Options) error {
	crowded := crowded(t, o)
	operations := mutexOperations(t, o, crowded)
	for _, resource := range t.resources {
		if o.isPermits(resource) {
			continue
		}
		count, first := overlaps(t, l.holds[resource], l.confirmations[resource], o.Reentrant)
		exclusive, why := exclusive(operations[resource], o)
		if n := crowded[resource]; n > 0 {
			exclusive, why = linearizable(mutexModel, n, o, nil)
		}
		r.compareHolds(t, l.holds[resource], exclusive != unknown)
		switch {
		case exclusive == unknown:
			r.Unchecked = append(r.Unchecked, Unchecked{Kind: LeaseOverlap, Resource: resource, Decided: true, Why: why})
		case (exclusive == no) != (count > 0):
			return &DisagreeError{Kind: LeaseOverlap, Resource: resource, Direct: count > 0, Linearizable: exclusive == no}
		}
		if count == 0 {
			continue
		}
		w := t.window("", 0, first.overlap.from, first.overlap.to)
		r.Findings = append(r.Findings, Finding{
			Kind: LeaseOverlap, Resource: resource, Count: count,
			Windows: []Window{first.first, first.second},
			FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To, Seqs: first.seqs,
			Text: fmt.Sprintf("%s (grant %d) and %s (grant %d) both held %q for %v, from %v.",
				first.first.Process, first.first.Grant, first.second.Process, first.second.Grant, resource,
				w.To.Since(w.From), w.From),
		})
	}
	return nil
}
