package scenarios_test

import (
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// weaken changes the faults of one type in a copy of the timeline.
func weaken[F faults.Fault](s *scenarios.Scenario, change func(F) faults.Fault) {
	s.Timeline = append([]scenarios.Item(nil), s.Timeline...)
	for i := range s.Timeline {
		if f, ok := s.Timeline[i].Fault.(F); ok {
			s.Timeline[i].Fault = change(f)
		}
	}
}

// Every counterexample, and every scenario that is safe because something is done in time, must come out otherwise when
// its cause is taken away.
func TestCausesAreCauses(t *testing.T) {
	noStep := func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.ClockStep) faults.Fault { return &faults.ClockStep{Process: f.Process} })
	}
	shortHold := func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Hold) faults.Fault { return &faults.Hold{Links: f.Links, For: 1} })
	}
	shortCut := func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Partition) faults.Fault { return &faults.Partition{Links: f.Links, For: 1} })
	}
	restartAfter := func(after time.Duration) func(*scenarios.Scenario) {
		return func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Kill) faults.Fault {
				return &faults.Kill{Outage: faults.Outage{Node: f.Node, RestartAfter: &after}}
			})
		}
	}
	remembers := func(s *scenarios.Scenario) { s.Nodes.Persistence.Persistence = sim.Always }
	for name, cause := range map[string]struct {
		remove func(*scenarios.Scenario)
		found  string
	}{
		"17-clock-jump":                    {noStep, "safe"},
		"24-restart-at-once/one-of-three":  {remembers, "safe"},
		"24-restart-at-once/three-of-five": {remembers, "safe"},
		"22-clock-rates/not-covered": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.ClockRate) faults.Fault { return &faults.ClockRate{Process: f.Process} })
		}, "safe"},
		"11-three-nodes-unreachable":                    {shortCut, "safe"},
		"14-partition-at-every-attempt/a-minute":        {shortCut, "safe"},
		"14-partition-at-every-attempt/two-minutes":     {shortCut, "safe"},
		"18-clock-jump-on-all-nodes-held/three-of-five": {noStep, "safe"},
		"19-clock-steps-back/release-lost":              {noStep, "safe"},
		"20-client-clock-steps-back/wall":               {noStep, "safe"},
		"21-suspended-host/monotonic": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Suspend) faults.Fault { return &faults.Suspend{Client: f.Client, For: 1} })
		}, "safe"},
		"25-restart-delayed":                         {restartAfter(0), "lease-overlap"},
		"26-restart-too-early/too-short":             {restartAfter(10100 * time.Millisecond), "safe"},
		"26-restart-too-early/clock-jumped":          {noStep, "safe"},
		"27-crash-after-set/every-second-power-loss": {remembers, "safe"},
		"28-three-nodes-delayed-restart":             {restartAfter(0), "safe"},
		"39-renewal/dies": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Crash) faults.Fault { return &faults.ClockStep{Process: f.Client} })
		}, "safe"},
		"42-stuck-holder/two-minutes-without-limit": {func(s *scenarios.Scenario) { s.Lock.Renewals = 3 }, "safe"},
		"42-stuck-holder/limited":                   {func(s *scenarios.Scenario) { s.Lock.Renewals = 0 }, "safe"},
		"43-extend-only-holder/at-once":             {restartAfter(10100 * time.Millisecond), "safe"},
		"43-extend-only-holder/delayed":             {restartAfter(0), "lease-overlap"},
		"boundaries/clock-step-breaks":              {noStep, "safe"},
		"boundaries/restart-delay-breaks":           {remembers, "safe"},
		"33-delayed-write":                          {shortHold, "safe"},
		"38-orphaned-votes/three": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Delay) faults.Fault { return &faults.Delay{Links: f.Links, By: 1} })
		}, "safe"},
		"32-pause-before-write": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Pause) faults.Fault { return &faults.Pause{Process: f.Process, For: 1} })
		}, "safe"},
	} {
		t.Run(name, func(t *testing.T) {
			s := *byName(t, name)
			cause.remove(&s)
			for _, tier := range scenarios.Tiers() {
				r, err := scenarios.Verify(&s, scenarios.Options{Tier: tier})
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Findings.String(); got != cause.found || r.OK() {
					t.Errorf("tier %s without its cause: found %s, want %s; as expected: %v", tier, got, cause.found, r.OK())
				}
			}
		})
	}
}

func byName(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	for _, s := range scenarios.Catalogue() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no scenario %s", name)
	return nil
}
