package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// Every bound of the catalogue on what clients have to wait for says no when what it rests on is changed, and as a matter of
// liveness.
func TestLivenessBoundsSayNo(t *testing.T) {
	retries := func(min, max time.Duration) func(*scenarios.Scenario) {
		return lock("retry-delay: {min: %v, max: %v}", min, max)
	}
	ttl := func(d time.Duration) func(*scenarios.Scenario) {
		return func(s *scenarios.Scenario) { s.Lock.TTL = d }
	}
	for _, c := range []struct {
		name   string
		change func(*scenarios.Scenario)
		want   string
	}{
		{"12-holder-dies/crash", ttl(11 * time.Second), "for the lock of client-1 to be taken over"},
		{"12-holder-dies/cut-off", ttl(8 * time.Second), "for the lock of client-1 to be taken over"},
		{"12-holder-dies/slow-nodes", func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.ClockRate) faults.Fault {
				return &faults.ClockRate{Process: f.Process, Rate: faults.PPM(-100_000)}
			})
		}, "for the lock of client-1 to be taken over"},
		{"39-renewal/dies", ttl(20 * time.Second), "for the lock of client-1 to be taken over"},
		{"42-stuck-holder/limited", func(s *scenarios.Scenario) { s.Lock.Renewals = 6 }, "for the lock of client-1 to be taken over"},
		{"44-redisson/holder-dies", ttl(33 * time.Second), "for the lock of client-1 to be taken over"},
		{"49-database-unique-index/clean-up", lock("clean-up: 20s"), "for the lock of client-1 to be taken over"},
		{"49-database-unique-index/clean-up", lock("clean-up: 0s"), "to be taken over, in vain"},
		{"09-contention", retries(time.Millisecond, 2*time.Millisecond), "attempts in one wait"},
		{"13-split-votes", func(s *scenarios.Scenario) {
			for i := range s.Timeline {
				for j := range s.Timeline[i].Do {
					if step := &s.Timeline[i].Do[j]; step.Kind == scenarios.UpdateStep {
						*step = scenarios.Step{Kind: scenarios.HoldStep, For: time.Second}
					}
				}
			}
		}, "attempts in one wait"},
		{"44-redisson/lost-wake-up", lock("protocol: single"), "attempts in one wait"},
		{"44-redisson/long-work", lock("protocol: single"), "attempts in one wait"},
		{"45-redisson-fair/in-order", lock("protocol: redisson"), "was overtaken"},
		{"45-redisson-fair/in-order", func(s *scenarios.Scenario) {
			// Client 4 queues up between the others.
			s.Timeline[3].When, s.Timeline[3].Repeat = faults.Trigger{At: 1500 * time.Millisecond}, 1
			s.Timeline[3].Do[0] = scenarios.Step{Kind: scenarios.LockStep, For: time.Minute}
		}, "grants to others go by"},
		{"11-three-nodes-unreachable", retries(time.Second, 2*time.Second), "after the faults were healed"},
		{"14-partition-at-every-attempt/healed", retries(time.Second, 2*time.Second), "after the faults were healed"},
		{"28-three-nodes-delayed-restart", retries(time.Second, 2*time.Second), "after the faults were healed"},
		{"38-orphaned-votes/two", func(s *scenarios.Scenario) {
			weaken(s, func(f *faults.Partition) faults.Fault {
				return &faults.Partition{Links: faults.Links{Clients: f.Clients, Nodes: []string{"D", "E"}, Direction: f.Direction}}
			})
			weaken(s, func(f *faults.Delay) faults.Fault {
				return &faults.Delay{Links: faults.Links{Clients: f.Clients, Nodes: []string{"A", "B", "C"}, Direction: f.Direction}, By: f.By, For: f.For}
			})
		}, "after the faults were healed"},
		{"38-orphaned-votes/three", ttl(12 * time.Second), "after the faults were healed"},
		{"42-stuck-holder/limited", func(s *scenarios.Scenario) { s.Lock.Renewals = 6 }, "after the faults were healed"},
		{"45-redisson-fair/dead-head", lock("wait-timeout: 10s"), "after the faults were healed"},
		{"49-database-unique-index/clean-up", lock("clean-up: 20s"), "after the faults were healed"},
		{"49-database-unique-index/clean-up", lock("clean-up: 0s"), "after the faults were healed, in vain"},
		// The lock cannot be had to the end of the run, but it can be after it.
		{"05-single-instance/down-for-good", func(s *scenarios.Scenario) {
			after := 80 * time.Second
			weaken(s, func(f *faults.PowerLoss) faults.Fault {
				return &faults.PowerLoss{Outage: faults.Outage{Node: f.Node, RestartAfter: &after}}
			})
		}, "expected it to be unbounded"},
		{"01-setnx-then-expire/a-minute", func(s *scenarios.Scenario) { s.Timeline[2].Do[0].For = 90 * time.Second }, "expected it to be unbounded"},
		{"14-partition-at-every-attempt/a-minute", func(s *scenarios.Scenario) {
			heal := 90 * time.Second
			s.Heal = &heal
		}, "expected it to be unbounded"},
		{"42-stuck-holder/a-minute-without-limit", func(s *scenarios.Scenario) { s.Lock.Renewals = 20 }, "expected it to be unbounded"},
		{"49-database-unique-index/one-minute", lock("clean-up: 70s"), "expected it to be unbounded"},
	} {
		s := *byName(t, c.name)
		s.Timeline = append([]scenarios.Item(nil), s.Timeline...)
		for i := range s.Timeline {
			s.Timeline[i].Do = append([]scenarios.Step(nil), s.Timeline[i].Do...)
		}
		c.change(&s)
		r, err := scenarios.Judge(&s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, p := range r.Problems {
			said = said || p.Class == scenarios.Liveness && strings.Contains(p.Text, c.want)
		}
		if !said {
			t.Errorf("%s, changed: %+v, want one with %q", c.name, r.Problems, c.want)
		}
	}
}

const quiet = `
title: t
source: s
explanation: e
claim: holds
clients: [a, b]
duration: 20s
timeline:
  - {at: 0s, client: a, do: [lock, unlock]}
  - {at: 1s, client: b, do: [lock, unlock]}
`

// A bound on what does not come to pass is not kept.
func TestBoundsOnNothing(t *testing.T) {
	for expect, want := range map[string]string{
		"expect: {findings: safe, unavailable: {at-most: 1s}}":                                             "",
		"expect: {findings: safe, unavailable: {at-most: 1s}, takeover: {at-most: 1h}}":                    "no holder was gone",
		"heal: 10s\nexpect: {findings: safe, unavailable: {at-most: 1s}, after-healing: {at-most: 5s}}":    "nobody asked",
		"heal: 500ms\nexpect: {findings: safe, unavailable: {at-most: 1s}, after-healing: {at-most: 10s}}": "",
		"expect: {findings: safe, unavailable: {at-most: 1s}, attempts: {at-least: 2, at-most: 9}}":        "a made 1 attempts in one wait",
		"expect: {findings: safe, unavailable: {at-most: 1s}, bypass: {at-least: 1, at-most: 9}}":          "no client saw 0 grants",
		"expect: {findings: safe, unavailable: unbounded}":                                                 "expected it to be unbounded",
	} {
		all, err := scenarios.Parse("x.yaml", []byte(quiet+expect))
		if err != nil {
			t.Errorf("%s: %v", expect, err)
			continue
		}
		r, err := scenarios.Judge(all[0], scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && !r.OK() || want != "" && (len(r.Problems) != 1 || r.Problems[0].Class != scenarios.Liveness || !strings.Contains(r.Problems[0].Text, want)) {
			t.Errorf("%s: %+v, want %q", expect, r.Problems, want)
		}
	}
}

func TestBadBounds(t *testing.T) {
	const ok = "expect: {findings: safe, unavailable: {at-most: 1s}"
	for text, want := range map[string]string{
		"expect: {findings: safe, unavailable: unbound}":                       `x.yaml:10:39: expect.unavailable: not bounds, as "{at-most: 2s}", nor the word for none "unbound"; did you mean "unbounded"?`,
		"expect: {findings: safe, unavailable: {at-least: 2s, at-most: 1s}}":   "x.yaml:10:39: expect.unavailable: at-most must not be less than at-least",
		ok + ", takeover: {at-least: 2s, at-most: 1s}}":                        "x.yaml:10:64: expect.takeover: at-most must not be less than at-least",
		ok + ", takeover: {at-most: 1}}":                                       "x.yaml:10:74: expect.takeover.at-most: ",
		ok + ", takeover: {}}":                                                 "x.yaml:10:64: expect.takeover: ",
		ok + ", attempts: {at-least: 2, at-most: 1}}":                          "expect.attempts: at-most must not be less than at-least",
		ok + ", attempts: {at-most: 1s}}":                                      "expect.attempts.at-most: ",
		ok + ", commands: -1}":                                                 `expect.commands: must not be negative "-1"`,
		ok + ", bypass: {at-least: -1, at-most: 1}}":                           "expect.bypass.at-least: must not be negative",
		ok + ", bypas: {at-most: 1}}":                                          `did you mean "bypass"?`,
		ok + ", overtakes: {at-most: -1}}":                                     "expect.overtakes: at-most must not be less than at-least",
		ok + ", after-healing: {at-most: 1s}}":                                 `expect.after-healing: there is no "heal" to count from`,
		"heal: 0s\n" + ok + "}":                                                "x.yaml:10:7: heal: must be after the beginning and before the end, at 20s",
		"heal: 20s\n" + ok + "}":                                               "x.yaml:10:7: heal: must be after the beginning and before the end, at 20s",
		"heal: 15s\n" + ok + ", after-healing: {at-most: 5s}}":                 "expect.after-healing: the run ends 5s after the healing",
		"heal: 15s\n" + ok + ", after-healing: {at-least: 2s, at-most: 1s}}":   "expect.after-healing: at-most must not be less than at-least",
		"  - {at: 16s, fault: {reset: {}}}\nheal: 15s\n" + ok + "}":            "x.yaml:10:10: timeline[2].at: all faults are healed at 15s, and none is injected from then on",
		"  - {at: 15s, fault: {reset: {}}}\nheal: 15s\n" + ok + "}":            "timeline[2].at: all faults are healed at 15s, and none is injected from then on",
		"  - {at: 16s, client: a, do: [lock, unlock]}\nheal: 15s\n" + ok + "}": "",
	} {
		_, err := scenarios.Parse("x.yaml", []byte(strings.TrimPrefix(quiet, "\n")+text+"\n"))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A fault that waits for an event is not injected after the healing, and the run says so.
func TestFaultsAfterTheHealing(t *testing.T) {
	all, err := scenarios.Parse("x.yaml", []byte(quiet+`  - {after: {client: b, event: acquire-done}, fault: {crash: {client: b}}}
heal: 500ms
expect: {findings: safe, unavailable: {at-most: 1s}}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Judge(all[0], scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "the moment came after the faults were healed"; len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, want) {
		t.Errorf("%+v, want %q", r.Problems, want)
	}
	if m := r.Measured(); m.AfterHealing.Process != "b" || !m.AfterHealing.Granted {
		t.Errorf("%+v", m.AfterHealing)
	}
}
