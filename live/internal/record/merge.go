package record

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/history"
)

// Merge makes a history of what the processes of a run have recorded, up to its end, in the order of true time. That begins at
// start and runs speed times as fast as the machine's. At equal times the end of a belief comes first.
func Merge(entries []Entry, start int64, speed int, end time.Duration) history.History {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
	m := &merger{start: start, speed: int64(speed), end: int64(end), beliefs: NewBeliefs()}
	for _, e := range entries {
		m.expire(e.At)
		if e.Event != nil {
			m.add(e.At, *e.Event)
		}
		m.beliefs.Take(e)
		m.expire(e.At)
	}
	m.expire(start + int64(end)/int64(speed))
	return m.history
}

type merger struct {
	start, speed, end int64
	beliefs           *Beliefs
	history           history.History
}

// expire ends the windows whose time has come.
func (m *merger) expire(now int64) {
	for {
		w, isOver := m.beliefs.Over(now)
		if !isOver {
			return
		}
		m.add(w.Ends, w.Expiry())
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
