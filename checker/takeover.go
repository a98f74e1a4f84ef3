package checker

import (
	"slices"
	"sort"
	"time"

	"redlocksim/sim/history"
)

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

// stops are the Seqs, by process, of its crashes and of the faults that keep it from releasing.
func (t *transcript) stops(o Options) map[string][]int {
	stops := map[string][]int{}
	for i := range t.history {
		e := &t.history[i]
		if e.Kind == history.Crash || e.Kind == history.Fault && slices.Contains(o.Stopping, e.Name) {
			stops[e.Process] = append(stops[e.Process], e.Seq)
		}
	}
	return stops
}

// criticalSections are the stretches in which the holder of a grant could use the resource, sorted by beginning: its first
// hold, from the grant to the call of its release, its expiry or the crash of its process, or up to a fault that keeps the
// process from releasing. Of a grant that was released or had expired before its client was told of it there is none.
func criticalSections(t *transcript, holds []hold, stops map[string][]int) []hold {
	var sections []hold
	for _, h := range holds {
		if o := &t.ops[h.grant]; h.from == o.ret {
			stops := stops[o.process]
			if i := sort.SearchInts(stops, h.from); i < len(stops) {
				h.to = min(h.to, stops[i])
			}
			sections = append(sections, h)
		}
	}
	return sections
}

// longestTakeover finds the longest takeover, the first of equals. used and asked are sorted by their beginnings.
func longestTakeover(t *transcript, asked []asking, used []hold) Takeover {
	var longest Takeover
	for _, u := range used {
		if u.to == forever || t.ops[u.grant].released != 0 {
			continue
		}
		stopped := t.history[u.to-1].Kind == history.Crash || t.history[u.to-1].Kind == history.Fault
		if !stopped || slices.ContainsFunc(used, func(other hold) bool { return other.from < u.to && u.to < other.to }) {
			continue
		}
		if next, ok := takeover(t, asked, u); ok && (longest.Process == "" || next.For > longest.For) {
			longest = next
		}
	}
	return longest
}

// takeover measures the time from the end of a section; false if nobody else asks from then on.
func takeover(t *transcript, asked []asking, gone hold) (Takeover, bool) {
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
