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
	b := newScene(s, holder, second)
	for _, process := range append(slices.Clone(b.Nodes.Names), second) {
		b.rate(process, s.Rho().Neg())
	}
	granted := after(holder, "acquire-done")
	b.client(faults.Trigger{}, holder, step(scenarios.TryLockStep), scenarios.Step{Kind: scenarios.SleepStep, For: time.Hour})
	b.client(granted, second, b.waits())
	b.fault(granted, "crash", &faults.Crash{Client: holder})
	return b.Scenario
}

// Outage is the worst case of nodes that lose their memory together: one more of them than the quorum can spare, which stay
// away for the restart delay of the budget. A client asks from then on until it has the lock.
func Outage(s *Settings) *scenarios.Scenario {
	b := newScene(s, holder)
	for _, node := range b.Nodes.Names[:len(b.Nodes.Names)-s.Quorum()+1] {
		b.fault(faults.Trigger{}, "power-loss", &faults.PowerLoss{Outage: faults.Outage{Node: node, RestartAfter: s.Budget.RestartDelay}})
	}
	b.client(faults.Trigger{At: time.Millisecond}, holder, b.waits(), step(scenarios.UnlockStep))
	return b.Scenario
}

// newScene starts from the world of the settings, unchanged.
func newScene(s *Settings, clients ...string) *builder {
	b := &builder{Scenario: s.Settings(), settings: s}
	b.Name, b.Clients, b.Duration = "cost", clients, 8*s.Lock.TTL+4*time.Minute
	return b
}

// waits asks until the lock is granted.
func (b *builder) waits() scenarios.Step {
	return scenarios.Step{Kind: scenarios.LockStep, For: 4*b.Lock.TTL + time.Minute}
}
