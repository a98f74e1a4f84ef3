//go:build linux

package testbed

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/sim/history"
)

// Merge makes a history of what the processes of a run have recorded, up to its end, in the order of true time. That begins at
// start and runs speed times as fast as the machine's. At equal times the end of a belief comes first. Operations, which the
// processes have numbered as they like, are numbered from 1.
func Merge(entries []Entry, start int64, speed int, end time.Duration) history.History {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
	m := &merger{start: start, speed: int64(speed), end: int64(end), beliefs: NewBeliefs(), ops: map[int]int{0: 0}}
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
	ops               map[int]int // their numbers in the history
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
