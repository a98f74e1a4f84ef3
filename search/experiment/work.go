package experiment

import (
	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
)

// often is more than fits into a run.
const often = 100

// crowding is how often each of two goroutines of a client takes the lock from the other: together more than twice as often as
// a client may before other processes have their turn.
const crowding = 20

// work draws what a client does all the time: short work under the lock every second or two, in one of several styles,
// and for some clients, once, something else. A run is to have some dozens of grants: more of the same would cost time and show
// little that is new.
func (s Space) work(c faults.Choices, client string) []scenarios.Item {
	w := s.worker(c)
	pass := w.pass(c.For("pass", 0))
	switch {
	case s.lingers(c):
		pass = []scenarios.Step{w.lock(), step(scenarios.LingerStep, 0), step(scenarios.WriteStep, 0), step(scenarios.UnlockStep, 0)}
	case s.isLate(c):
		pass = w.late(c.For("late pass", 0))
	}
	loop := append([]scenarios.Step{step(scenarios.SleepStep, w.rest)}, pass...)
	items := []scenarios.Item{{Client: client, Do: loop, Repeat: often}}
	if c.For("goroutines", 0).Below(6) == 0 {
		items[0].Goroutines = int(2 + c.For("how many", 0).Below(3))
	}
	if once := w.once(c.For("late", 0)); once != nil {
		items = append(items, scenarios.Item{When: s.outset(c, client, once[0].Kind), Client: client, Do: once, Repeat: 1})
	}
	if c.For("crowd", 0).Below(40) == 0 {
		items = append(items, scenarios.Item{When: faults.Trigger{At: s.instant(c.For("crowd", 1))}, Client: client,
			Do: []scenarios.Step{w.lock(), step(scenarios.UnlockStep, 0)}, Repeat: crowding, Goroutines: 2})
	}
	for i := range items {
		s.place(c.For("resource", i), &items[i])
	}
	return items
}

// outset draws when a client does something once. What closes it comes half of the time while it has asked the nodes for
// something, and they have not all answered.
func (s Space) outset(c faults.Choices, client string, first scenarios.StepKind) faults.Trigger {
	if first == scenarios.CloseStep && c.For("while asking", 0).Below(2) == 0 {
		asks := []string{observe.AttemptStarted.String(), observe.ExtendStarted.String(), observe.ReleaseStarted.String()}
		return s.after(c.For("asks", 0), asks, []string{client})
	}
	return faults.Trigger{At: s.instant(c.For("once", 0))}
}
