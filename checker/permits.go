package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker/internal/exclusion"
)

// Semaphore is a lock that so many may hold at a time.
type Semaphore struct {
	Name    string
	Permits int
}

// Has says whether who holds a resource has a permit of the semaphore: it is the semaphore itself, where nobody says which
// permit it is, or one that is numbered behind a slash, also with a number that the semaphore has not.
func (s Semaphore) Has(resource string) bool {
	if resource == s.Name {
		return true
	}
	number, is := strings.CutPrefix(resource, s.Name+"/")
	_, err := strconv.ParseUint(number, 10, 0)
	return is && err == nil
}

// excess is where more owners hold permits than there are.
type excess struct {
	holds []hold // at the same time, in the order in which they began
	span         // of that time
}

// excesses counts the holds that begin where all permits were held, and the confirmations for which none was left, and gives
// the first of them. Holds are in the order in which they began.
func excesses(holds []hold, confirmations []confirmation, permits int) (int, *excess) {
	count, first := exclusion.Find(
		len(holds), func(i int) exclusion.Hold {
			return exclusion.Hold{From: holds[i].from, To: holds[i].to, Owner: holds[i].grant}
		},
		len(confirmations), func(i int) exclusion.Hold {
			c := &confirmations[i]
			return exclusion.Hold{From: c.from, To: c.to, Owner: c.grant}
		}, permits)
	if first == nil {
		return 0, nil
	}
	var e excess
	for _, i := range first.Others {
		e.holds = append(e.holds, holds[i])
	}
	if first.IsTouch {
		c := confirmations[first.Second]
		e.holds, e.span = append(e.holds, hold{span: c.span, grant: c.grant}), c.span
		return count, &e
	}
	second := holds[first.Second]
	e.holds = append(e.holds, second)
	soonest := slices.MinFunc(e.holds, func(a, b hold) int { return cmp.Compare(a.to, b.to) })
	e.span = span{second.from, soonest.to}
	return count, &e
}

// addPermits reports semaphores of which more permits were held than there are, and checks the answer with porcupine.
func (r *Report) addPermits(t *transcript, l *leases, o Options) error {
	crowded := crowded(t, o)
	operations := mutexOperations(t, o, crowded)
	for _, s := range o.Semaphores {
		var holds []hold
		var confirmations []confirmation
		var ops []porcupine.Operation
		tooMany := 0
		for _, resource := range t.resources {
			if s.Has(resource) {
				holds, confirmations = append(holds, l.holds[resource]...), append(confirmations, l.confirmations[resource]...)
				ops, tooMany = append(ops, operations[resource]...), tooMany+crowded[resource]
			}
		}
		slices.SortFunc(holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
		count, first := excesses(holds, confirmations, s.Permits)
		within, why := linearizable(permitModel(s.Permits), tooMany+len(ops), o, func() []porcupine.Operation { return ops })
		r.compareHolds(t, holds, within != unknown)
		switch {
		case within == unknown:
			r.Unchecked = append(r.Unchecked, Unchecked{Kind: LeaseOverlap, Resource: s.Name, Decided: true, Why: why})
		case (within == no) != (count > 0):
			return &DisagreeError{Kind: LeaseOverlap, Resource: s.Name, Direct: count > 0, Linearizable: within == no}
		}
		if count > 0 {
			r.Findings = append(r.Findings, t.tooManyHold(s, count, first))
		}
	}
	return nil
}

// tooManyHold is the finding of an excess.
func (t *transcript) tooManyHold(s Semaphore, count int, c *excess) Finding {
	w := t.window("", 0, c.from, c.to)
	f := Finding{Kind: LeaseOverlap, Resource: s.Name, Count: count, FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To}
	var who []string
	var spans []span
	for _, h := range c.holds {
		f.Windows = append(f.Windows, t.windowOf(h.grant, h.span))
		who, spans = append(who, fmt.Sprintf("%s (grant %d)", t.ops[h.grant].process, h.grant)), append(spans, h.span)
	}
	f.Seqs = ends(spans...)
	last := len(who) - 1
	f.Text = fmt.Sprintf("%s and %s all held one of the %d permits of %q for %v, from %v.",
		strings.Join(who[:last], ", "), who[last], s.Permits, s.Name, w.To.Since(w.From), w.From)
	return f
}

// permitModel is a semaphore: its state is who holds a permit, and how often.
func permitModel(permits int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []mutex(nil) },
		Step: func(state, input, _ any) (bool, any) {
			held, in := state.([]mutex), input.(lockInput)
			i, holds := slices.BinarySearchFunc(held, in.owner, func(m mutex, owner int) int { return cmp.Compare(m.owner, owner) })
			free := holds || len(held) < permits
			switch in.act {
			case take:
				held = slices.Clone(held)
				if !holds {
					held = slices.Insert(held, i, mutex{owner: in.owner})
				}
				held[i].depth++
				return free, held
			case leave:
				if !holds {
					return false, held
				}
				held = slices.Clone(held)
				if held[i].depth--; held[i].depth == 0 {
					held = slices.Delete(held, i, i+1)
				}
				return true, held
			}
			return free, held
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]mutex), b.([]mutex)) },
	}
}
