package checker

import (
	"cmp"
	"slices"
)

// turn is an event, or a moment behind it, at which the number of clients that ask, or of critical sections, changes.
type turn struct {
	moment
	asks      int // clients more or less that ask
	uses      int // critical sections more or less that are on
	isGranted bool
}

// moment is that of an event, or a later one before the next.
type moment struct {
	seq int
	at  Instant
}

// turns are those of a resource, in order.
func turns(t *transcript, asked []asking, used []hold) []turn {
	var turns []turn
	at := func(seq int) moment { return moment{seq, t.at(seq)} }
	for _, a := range asked {
		turns = append(turns, turn{moment: at(a.from), asks: 1}, turn{moment: a.over(t), asks: -1, isGranted: a.granted})
	}
	for _, s := range used {
		turns = append(turns, turn{moment: at(s.from), uses: 1}, turn{moment: at(s.to), uses: -1})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.at, b.at)) })
	return turns
}

// unavailable measures the longest true time in which at every moment some client was asking for a resource, no critical
// section was on, and nobody was granted. A call that gave up early counts as asking for as long as it was to wait.
func unavailable(t *transcript, asked []asking, used []hold) Unavailable {
	turns := turns(t, asked, used)
	var longest Unavailable
	asks, uses := 0, 0
	since := moment{} // from when time counts, zero while it does not
	until := moment{} // when the last client stopped asking, zero while one asks
	end := func(to moment) {
		if since.seq != 0 {
			if long := to.at.Since(since.at); long > longest.For {
				longest = Unavailable{For: long, From: since.at, To: to.at, FromSeq: since.seq, ToSeq: to.seq}
			}
		}
		since, until = moment{}, moment{}
	}
	for len(turns) > 0 {
		now, isGranted := turns[0].moment, false
		for len(turns) > 0 && turns[0].moment == now {
			asks, uses, isGranted = asks+turns[0].asks, uses+turns[0].uses, isGranted || turns[0].isGranted
			turns = turns[1:]
		}
		if until.seq != 0 && now.at > until.at {
			end(until)
		}
		if isGranted || uses > 0 {
			end(now)
		}
		switch {
		case uses > 0:
		case asks == 0 && until.seq == 0:
			// Another may ask at the same true time, so that there is no gap.
			until = now
		case asks > 0 && since.seq == 0:
			since, until = now, moment{}
		case asks > 0:
			until = moment{}
		}
	}
	end(until)
	if longest.For == 0 {
		return longest
	}
	for _, a := range asked {
		if over := a.over(t); a.from < longest.ToSeq && (over.seq > longest.FromSeq || over.at > longest.From) {
			longest.Clients = append(longest.Clients, a.process)
		}
	}
	slices.Sort(longest.Clients)
	longest.Clients = slices.Compact(longest.Clients)
	if longest.ToSeq == forever {
		longest.ToSeq = 0
	}
	return longest
}
