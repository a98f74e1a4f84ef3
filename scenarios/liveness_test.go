package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// Every bound of the catalogue on what clients have to wait for says no when what it rests on is changed, and as a matter of
// liveness.
func TestLivenessBoundsSayNo(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*scenarios.Scenario)
		want   string
	}{
		{"12-holder-dies/crash", lock("ttl: 11s"), "for the lock of client-1 to be taken over"},
		{"12-holder-dies/cut-off", lock("ttl: 8s"), "for the lock of client-1 to be taken over"},
		{"12-holder-dies/slow-nodes", fault("clock-rate", "rate: -10%"), "for the lock of client-1 to be taken over"},
		{"39-renewal/dies", lock("ttl: 20s"), "for the lock of client-1 to be taken over"},
		{"42-stuck-holder/limited", lock("renewals: 6"), "for the lock of client-1 to be taken over"},
		{"44-redisson/holder-dies", lock("ttl: 33s"), "for the lock of client-1 to be taken over"},
		{"49-database-unique-index/clean-up", lock("clean-up: 20s"), "for the lock of client-1 to be taken over"},
		{"49-database-unique-index/clean-up", lock("clean-up: 0s"), "to be taken over, in vain"},
		{"09-contention", lock("retry-delay: {min: 1ms, max: 2ms}"), "attempts in one wait"},
		{"13-split-votes", text("update", "{hold: 1s}"), "attempts in one wait"},
		{"44-redisson/lost-wake-up", lock("protocol: single"), "attempts in one wait"},
		{"44-redisson/long-work", lock("protocol: single"), "attempts in one wait"},
		{"45-redisson-fair/in-order", lock("protocol: redisson"), "was overtaken"},
		{"45-redisson-fair/in-order", func(s *scenarios.Scenario) {
			// Client 4 queues up between the others.
			s.Timeline[3].When, s.Timeline[3].Repeat = faults.Trigger{At: 1500 * time.Millisecond}, 1
			s.Timeline[3].Do[0] = scenarios.Step{Kind: scenarios.LockStep, For: time.Minute}
		}, "grants to others go by"},
		{"11-three-nodes-unreachable", lock("retry-delay: {min: 1s, max: 2s}"), "after the faults were healed"},
		{"14-partition-at-every-attempt/healed", lock("retry-delay: {min: 1s, max: 2s}"), "after the faults were healed"},
		{"28-three-nodes-delayed-restart", lock("retry-delay: {min: 1s, max: 2s}"), "after the faults were healed"},
		{"38-orphaned-votes/two", twoVotes, "after the faults were healed"},
		{"38-orphaned-votes/three-released-once", lock("ttl: 12s"), "after the faults were healed"},
		{"42-stuck-holder/limited", lock("renewals: 6"), "after the faults were healed"},
		{"45-redisson-fair/dead-head", lock("wait-timeout: 10s"), "after the faults were healed"},
		{"49-database-unique-index/clean-up", lock("clean-up: 20s"), "after the faults were healed"},
		{"49-database-unique-index/clean-up", lock("clean-up: 0s"), "after the faults were healed, in vain"},
		// The lock cannot be had to the end of the run, but it can be after it.
		{"05-single-instance/down-for-good", fault("power-loss", "restart-after: 80s"), "expected it to be unbounded"},
		{"01-setnx-then-expire/a-minute", text("lock: 2h", "lock: 90s"), "expected it to be unbounded"},
		{"14-partition-at-every-attempt/a-minute", func(s *scenarios.Scenario) { s.Heal = new(90 * time.Second) }, "expected it to be unbounded"},
		{"42-stuck-holder/a-minute-without-limit", lock("renewals: 20"), "expected it to be unbounded"},
		{"49-database-unique-index/one-minute", lock("clean-up: 70s"), "expected it to be unbounded"},
	} {
		s := *scenariotest.Named(t, c.name)
		s.Timeline = append([]scenarios.Item(nil), s.Timeline...)
		for i := range s.Timeline {
			s.Timeline[i].Do = append([]scenarios.Step(nil), s.Timeline[i].Do...)
		}
		c.change(&s)
		r := scenariotest.Judged(t, &s, scenarios.Options{})
		said := false
		for _, p := range r.Problems {
			said = said || p.Class == verdict.Liveness && strings.Contains(p.Text, c.want)
		}
		if !said {
			t.Errorf("%s, changed: %+v, want one with %q", c.name, r.Problems, c.want)
		}
	}
}

// An extend that arrives late sets less time than is left, unless every extend is by the lock's own TTL.
func TestFixedTTL(t *testing.T) {
	named := scenariotest.Named(t, "56-late-extend/after-a-longer-one")
	for fixed, want := range map[bool]string{false: "lease-overlap", true: "safe"} {
		s := *named
		s.Lock = s.Lock.With("redlock-plain")
		protocols.Change(&s.Lock, func(own *protocols.RedlockPlainSettings) { own.FixedTTL = fixed })
		r := scenariotest.Judged(t, &s, scenarios.Options{})
		if got := r.Findings.String(); got != want {
			t.Errorf("fixed-ttl %v: %s, want %s", fixed, got, want)
		}
	}
}
