package timeline

import (
	"slices"

	"redlocksim/redlock/observe"
	"redlocksim/sim/history"
	"redlocksim/sim/storage"
)

// setAside marks what can be left out when only cause and effect are to be seen. What stays is what the violation rests
// on: the windows that are its witnesses, the votes and the messages by which their clients got them, the faults up to its
// end and, if it is of an effect, the effects that it is between.
func (b *builder) setAside() {
	v := b.t.Violation
	if v == nil || v.Kind != "lease-overlap" && v.Kind != "stale-write" {
		return
	}
	b.t.CanSetAside = true
	began := map[int]Instant{} // when each witness's client began the attempt that got it the lock, by the place of the witness
	for i, w := range v.Windows {
		began[i] = w.From
		for _, e := range b.result.History {
			if e.Kind == history.Step && e.Name == observe.AttemptStarted.String() && e.Grant == w.Grant && w.Grant != 0 && Instant(e.Time) <= w.From {
				began[i] = Instant(e.Time)
			}
		}
	}
	isOf := func(lane int, is func(i int, w Witness) bool) bool {
		for i, w := range v.Windows {
			if w.Lane == lane && is(i, w) {
				return true
			}
		}
		return false
	}
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		for j := range l.Spans {
			s := &l.Spans[j]
			matters := s.From < v.To
			switch s.Kind {
			case believedSpan:
				matters = isOf(i, func(_ int, w Witness) bool { return s.Grant == w.Grant && s.From == w.From })
			case votesSpan, keySpan:
				matters = isOf(s.Owner, func(k int, w Witness) bool { return s.To > began[k] && s.From <= max(w.From, v.To) })
			case askingSpan, pollingSpan:
				matters = isOf(i, func(_ int, w Witness) bool { return s.To == w.From })
			case actingSpan:
				matters = isOf(i, func(_ int, w Witness) bool { return s.Grant == w.Grant })
			}
			s.Aside = !matters || v.Resource != "" && s.Resource != "" && s.Resource != v.Resource
		}
		for j := range l.Marks {
			m := &l.Marks[j]
			m.Aside = m.At > v.To
			if m.Kind == acceptedMark || m.Kind == refusedMark {
				m.Aside = v.Kind != "stale-write" || m.At < v.From || m.At > v.To
			}
		}
	}
	store := slices.IndexFunc(b.t.Lanes, func(l Lane) bool { return l.Name == storage.Name })
	for i := range b.t.Arrows {
		a := &b.t.Arrows[i]
		gets := isOf(a.client(), func(k int, w Witness) bool { return a.Sent >= began[k] && a.Sent <= w.From })
		writes := v.Kind == "stale-write" && a.To == store && a.Ended >= v.From && a.Ended <= v.To
		a.Aside = !gets && !writes
	}
}

// isDecisive says that a mark is the effect that breaks the lock.
func (t *Timeline) isDecisive(m *Mark) bool {
	return t.Violation != nil && t.Violation.Kind == "stale-write" && m.Kind == acceptedMark && m.At == t.Violation.To
}
