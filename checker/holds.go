package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker/internal/exclusion"
	"redlocksim/sim/history"
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
	for i := range t.history {
		e := &t.history[i]
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

// excess is where more owners hold a lock than can.
type excess struct {
	holds []hold // at the same time, in the order in which they began
	span         // of that time
}

// excesses returns how many holds of a lock begin, or confirmations lie, where as many owners hold it as can, and the first to
// be complete. Seqs are unique, so that holds never touch.
func excesses(t *transcript, holds []hold, confirmations []confirmation, permits int, reentrant bool) (int, *excess) {
	owner := owners(t, reentrant)
	blocks := merge(holds, owner, reentrant)
	count, first := exclusion.Find(
		len(blocks), func(i int) exclusion.Hold {
			return exclusion.Hold{From: blocks[i].from, To: blocks[i].to, Owner: blocks[i].owner}
		},
		len(confirmations), func(i int) exclusion.Hold {
			c := &confirmations[i]
			return exclusion.Hold{From: c.from, To: c.to, Owner: owner(c.grant)}
		}, permits)
	if first == nil {
		return 0, nil
	}
	var e excess
	if first.IsTouch {
		c := confirmations[first.Second]
		e.span, e.holds = c.span, []hold{{span: c.span, grant: c.grant}}
	} else {
		h := blocks[first.Second].holds[0]
		e.span, e.holds = h.span, []hold{h}
	}
	var others []hold
	for _, i := range first.Others {
		other := blocks[i].covering(e.from)
		if others = append(others, other); !first.IsTouch {
			e.to = min(e.to, other.to)
		}
	}
	e.holds = append(others, e.holds...)
	return count, &e
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

// addHolds reports locks that more held than can, and checks the answers with porcupine.
func (r *Report) addHolds(t *transcript, l *leases, o Options) error {
	crowded := crowded(t, o)
	operations := mutexOperations(t, o, crowded)
	add := func(lock Semaphore, resources ...string) error {
		var holds []hold
		var confirmations []confirmation
		var ops []porcupine.Operation
		n := 0
		for _, resource := range resources {
			holds, confirmations = append(holds, l.holds[resource]...), append(confirmations, l.confirmations[resource]...)
			ops, n = append(ops, operations[resource]...), n+crowded[resource]+len(operations[resource])
		}
		slices.SortFunc(holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
		count, first := excesses(t, holds, confirmations, lock.Permits, o.Reentrant)
		within, why := linearizable(lockModel(lock.Permits), n, o, ops)
		r.compareHolds(t, holds, within != unknown)
		switch {
		case within == unknown:
			r.Unchecked = append(r.Unchecked, Unchecked{lock.Name, why})
		case (within == no) != (count > 0):
			return &DisagreeError{Kind: LeaseOverlap, Resource: lock.Name, Direct: count > 0, Linearizable: within == no}
		}
		if count > 0 {
			r.Findings = append(r.Findings, t.tooManyHold(lock, count, first))
		}
		return nil
	}
	for _, resource := range t.resources {
		if o.isPermits(resource) {
			continue
		}
		if err := add(Semaphore{resource, 1}, resource); err != nil {
			return err
		}
	}
	for _, s := range o.Semaphores {
		without := func(resource string) bool { return !s.Has(resource) }
		if err := add(s, slices.DeleteFunc(slices.Clone(t.resources), without)...); err != nil {
			return err
		}
	}
	return nil
}

// tooManyHold is the finding of an excess.
func (t *transcript) tooManyHold(lock Semaphore, count int, c *excess) Finding {
	var who []string
	var spans []span
	var windows []Window
	for _, h := range c.holds {
		windows, spans = append(windows, t.windowOf(h.grant, h.span)), append(spans, h.span)
		who = append(who, fmt.Sprintf("%s (grant %d)", t.ops[h.grant].process, h.grant))
	}
	what := fmt.Sprintf("both held %q", lock.Name)
	if lock.Permits > 1 {
		what = fmt.Sprintf("all held one of the %d permits of %q", lock.Permits, lock.Name)
	}
	f, last := t.finding(LeaseOverlap, lock.Name, c.span, ends(spans...), windows...), len(who)-1
	f.Count = count
	f.Text = fmt.Sprintf("%s and %s %s for %v, from %v.", strings.Join(who[:last], ", "), who[last], what, f.To.Since(f.From), f.From)
	return f
}

// Windows returns the believed windows of a history, those that [Check] judges, in the order of their grants and then of
// their beginnings. Of the Options, it looks at End only. Errors are those of Check.
func Windows(h history.History, o Options) ([]Window, error) {
	if len(h) == 0 {
		return nil, nil
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	t, err := transcribe(h, o.End)
	if err != nil {
		return nil, err
	}
	l := believe(t)
	windows := make([]Window, 0, len(l.windows))
	for grant := range t.ops {
		for _, s := range l.of(grant) {
			windows = append(windows, t.windowOf(grant, s))
		}
	}
	return windows, nil
}

// isPermits says whether a resource is a semaphore, which several may hold.
func (o *Options) isPermits(resource string) bool {
	return slices.ContainsFunc(o.Semaphores, func(s Semaphore) bool { return s.Name == resource })
}
