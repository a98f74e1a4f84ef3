package checker

import (
	"cmp"
	"slices"
)

// turn is an event at which the number of clients that ask, or of critical sections, changes.
type turn struct {
	seq       int
	asks      int // clients more or less that ask
	uses      int // critical sections more or less that are on
	isGranted bool
}

// turns are those of a resource, in order.
func turns(asked []asking, used []use, granted []int) []turn {
	var turns []turn
	for _, a := range asked {
		turns = append(turns, turn{seq: a.from, asks: 1}, turn{seq: a.to, asks: -1})
	}
	for _, s := range used {
		turns = append(turns, turn{seq: s.from, uses: 1}, turn{seq: s.to, uses: -1})
	}
	for _, seq := range granted {
		turns = append(turns, turn{seq: seq, isGranted: true})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.seq, b.seq) })
	return turns
}

// unavailable measures the longest true time in which at every moment some client was asking for a resource, no critical
// section was on, and nobody was granted. granted are the Seqs of its grants.
func unavailable(t *transcript, asked []asking, used []use, granted []int) Unavailable {
	turns := turns(asked, used, granted)
	var longest Unavailable
	asks, uses := 0, 0
	since := 0 // the Seq from which time counts, 0 while it does not
	until := 0 // the Seq at which the last client stopped asking, 0 while one asks
	end := func(seq int) {
		if since != 0 {
			w := t.window("", 0, since, seq)
			if long := w.To.Since(w.From); long > longest.For {
				longest = Unavailable{For: long, From: w.From, To: w.To, FromSeq: w.FromSeq, ToSeq: w.ToSeq}
			}
		}
		since, until = 0, 0
	}
	for len(turns) > 0 {
		seq, isGranted := turns[0].seq, false
		for len(turns) > 0 && turns[0].seq == seq {
			asks, uses, isGranted = asks+turns[0].asks, uses+turns[0].uses, isGranted || turns[0].isGranted
			turns = turns[1:]
		}
		if until != 0 && t.at(seq) > t.at(until) {
			end(until)
		}
		if isGranted || uses > 0 {
			end(seq)
		}
		switch {
		case uses > 0:
		case asks == 0 && until == 0:
			// Another may ask at the same true time, so that there is no gap.
			until = seq
		case asks > 0 && since == 0:
			since, until = seq, 0
		case asks > 0:
			until = 0
		}
	}
	end(until)
	if longest.For == 0 {
		return longest
	}
	to := longest.ToSeq
	if to == 0 {
		to = forever
	}
	for _, a := range asked {
		if a.from < to && a.to > longest.FromSeq {
			longest.Clients = append(longest.Clients, a.process)
		}
	}
	slices.Sort(longest.Clients)
	longest.Clients = slices.Compact(longest.Clients)
	return longest
}

// usesOf are holds in the place of critical sections.
func usesOf(holds []hold) (uses []use) {
	for _, h := range holds {
		uses = append(uses, use{span: h.span, grant: h.grant})
	}
	return uses
}
