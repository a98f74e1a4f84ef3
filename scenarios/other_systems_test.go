package scenarios_test

import (
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/search/experiment"
	"redlocksim/sim/kernel"
	"redlocksim/sim/storage"
)

// without leaves faults out of the timeline.
func without(s *scenarios.Scenario, kinds ...string) {
	s.Timeline = slices.DeleteFunc(s.Timeline, func(i scenarios.Item) bool { return i.Fault != nil && slices.Contains(kinds, i.Kind) })
}

// Whatever happens but clocks that run at a wrong rate, the lock of a consensus service is held by one client, and its
// revisions rise; and what is written in the transaction that holds a row lock is never late.
func TestOtherSystemsHoldUnderRandomFaults(t *testing.T) {
	for name, system := range map[string]struct {
		prepare func(*scenarios.Scenario)
		never   []checker.Kind
	}{
		"consensus": {func(s *scenarios.Scenario) {
			lock("protocol: consensus")(s)
			s.Storage = storage.Fenced
		}, []checker.Kind{checker.LeaseOverlap, checker.StaleWrite, checker.TokenRegressed, checker.TokenRepeated}},
		"db-row": {func(s *scenarios.Scenario) {
			lock("protocol: db-row, effects: transaction")(s)
			// A database that restarts ends transactions of clients that believe in them.
			without(s, "kill", "power-loss", "shutdown")
			// A transaction that reads what it has written itself is more than a history can say.
			for i := range s.Timeline {
				updated := false
				s.Timeline[i].Do = slices.DeleteFunc(s.Timeline[i].Do, func(step scenarios.Step) bool {
					again := updated && step.Kind == scenarios.UpdateStep
					updated = updated || step.Kind == scenarios.UpdateStep
					return again
				})
			}
		}, []checker.Kind{checker.LeaseOverlap, checker.StaleWrite, checker.LostUpdate}},
	} {
		t.Run(name, func(t *testing.T) {
			grants, injected := 0, 0
			for seed := range seeds(*scenarios.Random, 30) {
				s := experiment.Arbitrary(seed)
				without(s, taking("clock-rate", "suspend")...)
				s.Lock.Clock = kernel.Monotonic
				system.prepare(s)
				for i := range s.Timeline {
					// Only the library can be called about a lock that was released.
					s.Timeline[i].Do = slices.DeleteFunc(s.Timeline[i].Do, func(step scenarios.Step) bool { return step.Released })
					if m := s.Timeline[i].When.After; m != nil {
						// The steps are those of the library.
						m.Event = "acquire-done"
					}
				}
				out := scenariotest.Ran(t, s, scenarios.Options{Seed: seed})
				report, err := checker.Check(out.History, checker.Options{End: checker.Instant(s.Duration)})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, f := range report.Findings {
					if slices.Contains(system.never, f.Kind) {
						t.Errorf("seed %d: %s: %s", seed, f.Kind, f.Text)
					}
				}
				grants += report.Grants
				for i := range out.History {
					if e := &out.History[i]; slices.Contains([]string{"kill", "pause", faults.CutOff}, e.Name) {
						injected++
					}
				}
			}
			if grants < 100 || injected == 0 {
				t.Errorf("%d grants, %d faults", grants, injected)
			}
		})
	}
}

// taking are the kinds of faults that take from any of these keys of a budget.
func taking(keys ...string) (kinds []string) {
	for _, k := range faults.Vocabulary() {
		if slices.ContainsFunc(k.Takes, func(key string) bool { return slices.Contains(keys, key) }) {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}
