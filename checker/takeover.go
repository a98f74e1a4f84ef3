package checker

import "time"

// Takeover is the time from a holder's disappearance to the next grant. The zero Takeover is none.
//
// A holder has disappeared if the crash of its process, or a fault that keeps it from releasing (Options.Stopping), ends its
// critical section, no release of the grant succeeds afterwards, and no other critical section is on: the resource is free, and
// the lock does not know. A pause counts only if it outlasts the lease.
//
// The time counts from there, or from the first moment after it at which another process asks, to the next grant to
// another process; if there is none, until the last of them stops asking.
type Takeover struct {
	For time.Duration
	// Process and Grant are of the holder that was gone; GoneSeq is the event that ended its critical section.
	Process string
	Grant   int
	GoneSeq int
	// FromSeq and ToSeq are the events that begin and end the time, at From and To. ToSeq is 0, and To the end of the
	// run, if somebody asked in vain until then.
	FromSeq, ToSeq int
	From, To       Instant
	// By is who was granted the resource next, empty if nobody was.
	By string
}

// longestTakeover finds the longest takeover, the first of equals. used and asked are sorted by their beginnings.
func longestTakeover(t *transcript, asked []asking, used []use) Takeover {
	var longest Takeover
	last := 0 // the end of the latest section so far
	for i, u := range used {
		inside := last > u.to || i+1 < len(used) && used[i+1].from < u.to && outlasts(used[i+1:], u.to)
		last = max(last, u.to)
		if !u.stopped || t.ops[u.grant].released != 0 || inside {
			continue
		}
		if next, ok := takeover(t, asked, u); ok && (longest.Process == "" || next.For > longest.For) {
			longest = next
		}
	}
	return longest
}

// outlasts reports whether one of the sections, sorted by their beginnings, is on at seq.
func outlasts(later []use, seq int) bool {
	for _, u := range later {
		if u.from > seq {
			return false
		}
		if u.to > seq {
			return true
		}
	}
	return false
}

// takeover measures the time from the end of a section; false if nobody else asks from then on.
func takeover(t *transcript, asked []asking, gone use) (Takeover, bool) {
	holder := t.ops[gone.grant].process
	from, to, by := forever, 0, ""
	for _, a := range asked {
		if a.process == holder || a.to < gone.to {
			continue
		}
		from = min(from, max(a.from, gone.to))
		switch {
		case a.granted && (by == "" || a.to < to):
			to, by = a.to, a.process
		case by == "":
			to = max(to, a.to)
		}
	}
	if from == forever {
		return Takeover{}, false
	}
	w := t.window(holder, gone.grant, from, to)
	return Takeover{For: w.To.Since(w.From), Process: holder, Grant: gone.grant, GoneSeq: gone.to,
		FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To, By: by}, true
}
