package attacks

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// HolderCrash is the worst case of a crash of the holder: it crashes right after the grant, and a second client asks from
// then on until it has the lock. The clocks of the nodes and of the second client are slow.
func HolderCrash(s *Settings) *scenarios.Scenario {
	x := newScene(s, holder, second)
	for _, process := range append(slices.Clone(x.Nodes.Names), second) {
		x.rate(process, s.Rho().Neg())
	}
	granted := after(holder, "acquire-done")
	x.client(faults.Trigger{}, holder, step(scenarios.TryLockStep), scenarios.Step{Kind: scenarios.SleepStep, For: time.Hour})
	x.client(granted, second, x.waits())
	x.fault(granted, "crash", &faults.Crash{Client: holder})
	return x.Scenario
}

// Outage is the worst case of nodes that lose their memory together: one more of them than the quorum can spare, which stay
// away for the restart delay of the budget. A client asks from then on until it has the lock.
func Outage(s *Settings) *scenarios.Scenario {
	x := newScene(s, holder)
	for _, node := range x.Nodes.Names[:len(x.Nodes.Names)-s.Quorum()+1] {
		x.fault(faults.Trigger{}, "power-loss", &faults.PowerLoss{Outage: faults.Outage{Node: node, RestartAfter: s.Budget.RestartDelay}})
	}
	x.client(faults.Trigger{At: time.Millisecond}, holder, x.waits(), step(scenarios.UnlockStep))
	return x.Scenario
}

// newScene starts from the world of the settings, unchanged.
func newScene(s *Settings, clients ...string) *builder {
	x := &builder{Scenario: s.Settings(), settings: s}
	x.Name, x.Clients, x.Duration = "cost", clients, 8*s.Lock.TTL+4*time.Minute
	return x
}

// waits asks until the lock is granted.
func (x *builder) waits() scenarios.Step {
	return scenarios.Step{Kind: scenarios.LockStep, For: 4*x.Lock.TTL + time.Minute}
}
