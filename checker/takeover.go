package checker

import (
	"time"

	"redlocksim/history"
)

// Takeover is the time until a resource whose holder was gone had another one. The zero Takeover is none.
//
// A holder is gone when its critical section is ended, as for Unavailable, by the crash of its process or by a fault that
// keeps the process from releasing (Options.Stopping), when no release of the grant succeeds afterwards, and when no
// other critical section is on that it would leave behind: the resource is free then, and the lock does not know. A
// pause after which the holder comes back in time is no such thing; one that outlasts its lease is.
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

// longestTakeover finds the takeover that took longest, the first of equals. used is in the order in which the sections
// began, asked in that in which the waits did.
func longestTakeover(t *transcript, asked []asking, used []use) Takeover {
	released := map[int]bool{}
	for i := range t.ops {
		if o := &t.ops[i]; o.call != 0 && o.fn == history.Release && o.outcome == history.OK {
			released[o.grant] = true
		}
	}
	var longest Takeover
	last := 0 // the end of the latest section so far
	for i, u := range used {
		inside := last > u.to || i+1 < len(used) && used[i+1].from < u.to && outlasts(used[i+1:], u.to)
		last = max(last, u.to)
		if !u.stopped || released[u.grant] || inside {
			continue
		}
		if next, ok := takeover(t, asked, u); ok && (longest.Process == "" || next.For > longest.For) {
			longest = next
		}
	}
	return longest
}

// outlasts says whether one of the sections, in the order in which they began, is on at seq.
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
