package experiment

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
)

// isLate draws whether a client extends its locks so late that a pause which begins with the extend outlasts the lease: the
// answers, the timer of the lease, and the end of its context are all due when the client goes on. One that lingers does not.
func (s Space) isLate(c faults.Choices) bool {
	from, to := s.lateExtends()
	return from < to && s.extends() && !s.lingers(c) && c.For("is late", 0).Below(6) == 5
}

// lateExtends are from when to when after its grant a lock can be extended, before its context ends, so that a pause outlasts
// it.
func (s Space) lateExtends() (from, to time.Duration) {
	stop := s.Base.Budget.Pause
	if s.Beyond {
		stop = s.Base.Lock.TTL / 2
	}
	contextEnds, end := ends(s)
	return max(end-stop, 0), contextEnds - 2*s.Base.Network.Latency.Max()
}

// late draws a pass with an extend, or with work that renews, shortly before the end of the lease.
func (w *worker) late(c faults.Choices) []scenarios.Step {
	from, to := w.space.lateExtends()
	asleep := step(scenarios.SleepStep, w.space.times.Length(c.For("asleep", 0), max(from, 1), to))
	extend := step(scenarios.ExtendStep, w.ttl)
	if c.For("renews", 0).Below(4) == 0 {
		extend = step(scenarios.RenewStep, w.ttl/2)
	}
	return []scenarios.Step{w.lock(), asleep, extend, step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)}
}

// stoppedLate draws a pause of a client that extends late: once or each time, and mostly before a node has answered.
func (s Space) stoppedLate(x *scenarios.Scenario, client string, c faults.Choices) []scenarios.Item {
	m := &faults.Moment{Event: observe.ExtendStarted.String(), Client: client, Nth: int(1 + c.For("nth", 0).Below(3))}
	if !slices.Contains(s.steps(), m.Event) {
		m.Event = "extend-called" // which every lock has
	}
	when := faults.Trigger{After: m, Every: c.For("every", 0).Below(2) == 1}
	if c.For("plus", 0).Below(3) == 2 {
		when.Plus = faults.Length(c.For("by", 0), 0, 2*s.Base.Network.Latency.Max())
	}
	kind, _ := faults.Find("pause")
	limits := s.about(x, when)
	limits.Names.Clients, limits.Names.Nodes = []string{client}, nil
	f := kind.Draw(c.For("fault", 0), limits)
	if f == nil {
		return nil
	}
	return []scenarios.Item{{When: when, Kind: kind.Name, Fault: f}}
}
