package live

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/internal/faketime"
)

// entry is something that happened in a run, at a reading of CLOCK_MONOTONIC: an event, or something from which the ends of
// believed windows follow.
type entry struct {
	at      int64
	process string
	event   *history.Event
	belief  *belief
	clock   *faketime.Skew // what the client's lock clock reads from then on
}

// expiry is the event of the end of a believed window.
func (w window) expiry() history.Event {
	return history.Event{Kind: history.Expire, Process: w.process, Resource: w.resource, Grant: w.grant}
}

// merge makes a history of what the processes of a run have recorded, up to its end, in the order of true time. That begins at
// start and runs speed times as fast as the machine's. At equal times the end of a belief comes first.
func merge(entries []entry, start int64, speed int, end time.Duration) history.History {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	m := &merger{start: start, speed: int64(speed), end: int64(end), beliefs: newBeliefs()}
	for _, e := range entries {
		m.expire(e.at)
		if e.event != nil {
			m.add(e.at, *e.event)
		}
		m.beliefs.take(e)
		m.expire(e.at)
	}
	m.expire(start + int64(end)/int64(speed))
	return m.history
}

type merger struct {
	start, speed, end int64
	beliefs           *beliefs
	history           history.History
}

// expire ends the windows whose time has come.
func (m *merger) expire(now int64) {
	for {
		w, isOver := m.beliefs.over(now)
		if !isOver {
			return
		}
		m.add(w.ends, w.expiry())
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
	m.history = append(m.history, e)
}
