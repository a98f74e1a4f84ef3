package live

import (
	"cmp"
	"slices"
	"time"

	"redlocksim/history"
)

// entry is something that happened in a run, at a reading of CLOCK_MONOTONIC: an event, or what the ends of believed
// windows follow from.
type entry struct {
	at      int64
	process string
	event   *history.Event
	belief  *belief
	stepped int64 // by how much the client's lock clock was stepped
}

// window is a grant that its client believes in.
type window struct {
	process  string
	resource string
	grant    int
	until    int64 // by the lock clock
	ends     int64 // CLOCK_MONOTONIC, as far as one knows
}

// merge makes a history of what the processes of a run have told: in the order of true time, which begins at start and
// goes speed times as fast as the machine's, up to its end. A believed window ends when the lock clock first reads its
// last acknowledged expiry, whether or not its client runs just then; at equal times before all else.
func merge(entries []entry, start int64, speed int, end time.Duration) history.History {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	m := &merger{start: start, speed: int64(speed), end: int64(end), steps: map[string]int64{}}
	for _, e := range entries {
		m.expire(e.at)
		switch {
		case e.event != nil:
			m.add(e.at, *e.event)
			if e.event.Kind == history.Crash {
				m.open = slices.DeleteFunc(m.open, func(w window) bool { return w.process == e.process })
			}
		case e.belief != nil:
			m.open = slices.DeleteFunc(m.open, func(w window) bool { return w.grant == e.belief.Grant })
			if e.belief.Until != 0 {
				w := window{process: e.process, resource: e.belief.Resource, grant: e.belief.Grant, until: e.belief.Until}
				w.ends = max(w.until-m.steps[e.process], e.at)
				m.open = append(m.open, w)
				m.expire(e.at)
			}
		case e.stepped != 0:
			m.steps[e.process] += e.stepped
			for i := range m.open {
				if w := &m.open[i]; w.process == e.process {
					w.ends = max(w.until-m.steps[e.process], e.at)
				}
			}
		}
	}
	m.expire(start + int64(end)/int64(speed))
	return m.history
}

type merger struct {
	start, speed, end int64
	steps             map[string]int64 // of lock clocks, by client, so far
	open              []window
	history           history.History
}

// expire ends the windows whose time has come.
func (m *merger) expire(now int64) {
	for {
		first := -1
		for i, w := range m.open {
			if w.ends <= now && (first < 0 || w.ends < m.open[first].ends) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		w := m.open[first]
		m.open = slices.Delete(m.open, first, first+1)
		m.add(w.ends, history.Event{Kind: history.Expire, Process: w.process, Resource: w.resource, Grant: w.grant})
	}
}

// add writes an event down, unless the run is over.
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
