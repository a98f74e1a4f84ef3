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
		"25-restart-delayed": {func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Kill) faults.Fault {
				return &faults.Kill{Outage: faults.Outage{Node: f.Node, RestartAfter: new(time.Duration)}}
			})
		}, "lease-overlap"},
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
