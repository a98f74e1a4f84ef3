//go:build linux

package live

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/sim/history"
)

// entry is something that happened in a run, at a reading of CLOCK_MONOTONIC: an event, or something from which the ends of
// believed windows follow.
type entry struct {
	at      int64
	process string
	event   *history.Event
	belief  *client.Belief
	clock   *faketime.Skew // what the client's lock clock reads from then on
}

// window is a grant that its client believes in.
type window struct {
	ends    int64 // CLOCK_MONOTONIC, unless the clock is changed
	process string
	client.Belief
}

// merger makes a history of entries.
type merger struct {
	start, speed, end int64
	history           history.History
	ops               map[int]int              // their numbers in the history
	clocks            map[string]faketime.Skew // the lock clocks by client, except those that are CLOCK_MONOTONIC
	believed          []window
}

// merge makes a history of what the processes of a run have recorded, up to its end, in the order of true time. That begins at
// start and runs speed times as fast as the machine's. A believed window ends when the lock clock first reads its last
// acknowledged expiry, whether or not its client is running; at equal times that comes first. Operations, which the processes
// have numbered as they like, are numbered from 1.
func merge(entries []entry, start, speed int64, end time.Duration) history.History {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	m := &merger{start: start, speed: speed, end: int64(end), ops: map[int]int{0: 0}, clocks: map[string]faketime.Skew{}}
	for _, e := range entries {
		m.endBeliefs(e.at)
		if e.event != nil {
			m.add(e.at, *e.event)
		}
		m.learn(e)
	}
	m.endBeliefs(start + int64(end)/speed)
	return m.history
}

// learn changes what clients believe by an entry.
func (m *merger) learn(e entry) {
	switch {
	case e.belief != nil:
		m.believed = slices.DeleteFunc(m.believed, func(w window) bool { return w.Grant == e.belief.Grant })
		if e.belief.Until != 0 {
			m.believed = append(m.believed, window{max(m.clocks[e.process].When(e.belief.Until), e.at), e.process, *e.belief})
		}
	case e.clock != nil:
		m.clocks[e.process] = *e.clock
		for i := range m.believed {
			if w := &m.believed[i]; w.process == e.process {
				w.ends = max(e.clock.When(w.Until), e.at)
			}
		}
	case e.event.Kind == history.Crash:
		m.believed = slices.DeleteFunc(m.believed, func(w window) bool { return w.process == e.process })
	}
}

// endBeliefs ends the windows whose time has come.
func (m *merger) endBeliefs(now int64) {
	slices.SortStableFunc(m.believed, func(a, b window) int { return cmp.Compare(a.ends, b.ends) })
	for len(m.believed) > 0 && m.believed[0].ends <= now {
		w := m.believed[0]
		m.believed = m.believed[1:]
		m.add(w.ends, history.Event{Kind: history.Expire, Process: w.process, Resource: w.Resource, Grant: w.Grant})
	}
}

// add adds an event, unless the run is over.
func (m *merger) add(at int64, e history.Event) {
	e.Time = max(at-m.start, 0) * m.speed
	if e.Time > m.end {
		return
	}
	if n := len(m.history); n > 0 {
		e.Time = max(e.Time, m.history[n-1].Time)
	}
	e.Seq = len(m.history) + 1
	e.Op, e.Grant, e.Basis = m.op(e.Op), m.op(e.Grant), m.op(e.Basis)
	if e.Func == history.Mark { // the number is that of the grant
		e.Number = int64(m.op(int(e.Number)))
	}
	m.history = append(m.history, e)
}

// op is the number of an operation in the history.
func (m *merger) op(theirs int) int {
	n, known := m.ops[theirs]
	if !known {
		n = len(m.ops)
		m.ops[theirs] = n
	}
	return n
}
