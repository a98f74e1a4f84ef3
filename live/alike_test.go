//go:build linux

package live_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/speed"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// everything is a timeline with each kind of fault that tier live can have, several in more than one way. Each waits for what
// it must come after, so that a busy machine makes it longer, and no other one of it.
const everything = `
  - {at: 0s, client: client-1, do: [lock, sleep: 1s]}
  - {after: {event: acquire-done}, plus: 50ms, fault: {clock-step: {process: A, by: -1s}}}
  - {after: {event: clock-step}, plus: 50ms, fault: {clock-rate: {process: B, rate: 10%, for: 200ms}}}
  - {after: {event: clock-rate-ends}, plus: 50ms, fault: {clock-stall: {process: client-2, for: 100ms}}}
  - {after: {event: clock-rate-ends}, plus: 100ms, fault: {clock-stall: {process: C, for: 100ms}}}
  - {after: {event: clock-stall-ends, node: C}, plus: 50ms, fault: {partition: {clients: [client-1], for: 200ms}}}
  - {after: {event: partition-heals}, plus: 50ms, fault: {hold: {clients: [client-2], nodes: [A, B], for: 200ms}}}
  - {after: {event: hold-ends}, plus: 50ms, fault: {delay: {clients: [client-1], direction: replies, by: 10ms, for: 200ms}}}
  - {after: {event: delay-ends}, plus: 50ms, fault: {reset: {}}}
  - {after: {event: reset}, plus: 50ms, fault: {kill: {node: C, restart-after: 200ms}}}
  - {after: {event: restart, node: C}, plus: 50ms, fault: {power-loss: {node: D, restart-after: 0s}}}
  - {after: {event: restart, node: D}, plus: 50ms, fault: {evict: {node: E}}}
  - {after: {event: restart, node: D}, plus: 100ms, fault: {shutdown: {node: E}}}
  - {after: {event: restart, node: D}, plus: 150ms, fault: {evict: {node: E}}}
  - {after: {event: restart, node: D}, plus: 200ms, fault: {restart: {node: E}}}
  - {after: {event: restart, node: E}, plus: 50ms, fault: {kill: {node: E, restart-after: 200ms, by-wall-clock: true}}}
  - {after: {event: restart, node: E, nth: 2}, plus: 50ms, fault: {pause: {process: client-1, for: 400ms}}}
  - {after: {event: pause, client: client-1}, plus: 200ms, fault: {pause: {process: client-1, for: 400ms}}}
  - {after: {event: resume, client: client-1}, plus: 50ms, fault: {pause: {process: B}}}
  - {after: {event: pause, node: B}, plus: 200ms, fault: {resume: {process: B}}}
  - {after: {event: resume, node: B}, plus: 50ms, fault: {suspend: {client: client-1, for: 200ms}}}
  - {after: {event: resume, client: client-1, nth: 2}, plus: 50ms, fault: {promote: {node: A, replica: A2, clients: [client-2]}}}
  - {after: {event: promote, node: A2}, plus: 50ms, fault: {failover: {node: C, replica: C2, after: 200ms, restart-after: 400ms}}}
  - {after: {event: promote, node: A2}, plus: 100ms, fault: {kill: {node: A}}}
  - {after: {event: promote, node: A2}, plus: 150ms, fault: {kill: {node: A}}}
  - {after: {event: restart, node: C, nth: 2}, plus: 50ms, fault: {stuck: {client: client-1}}}
  - {after: {event: stuck}, plus: 50ms, fault: {crash: {client: client-2}}}
nodes: {replicas: {A: [A2], C: [C2]}}`

// healed is one whose faults end when all do.
const healed = `
  - {at: 0s, client: client-1, do: [lock, sleep: 1s]}
  - {at: 200ms, fault: {partition: {}}}
  - {at: 300ms, fault: {kill: {node: B}}}
heal: 2s`

// TestFaultsAreAlike: one engine injects faults into worlds of the simulator and into processes, so that a timeline with all
// of them reads alike on both tiers, refusals included; only how long a node was down is measured.
func TestFaultsAreAlike(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	kinds := map[string]bool{}
	for timeline, refused := range map[string]int{everything: 2, healed: 0} {
		s := small(t, "ttl: 10m", timeline)
		s.Duration = 5 * time.Minute // which only a busy machine needs
		for _, item := range s.Timeline {
			kinds[item.Kind] = true
		}
		simulated := scenariotest.Judged(t, s, scenarios.Options{})
		retry.Test(t, livetest.Disturbing, func(t *retry.T) {
			real, err := run(t, t.Context(), s, speed.Default)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sentences(real.History), sentences(simulated.History); got != want {
				t.Errorf("on tier live\n%s\nin the simulator\n%s", got, want)
			}
			if got, want := fmt.Sprint(real.NotInjected), fmt.Sprint(simulated.NotInjected); got != want || len(real.NotInjected) != refused {
				t.Errorf("on tier live %s could not happen, in the simulator %s", got, want)
			}
		})
	}
	for _, k := range faults.Vocabulary() {
		if !kinds[k.Name] && faults.LiveOf(k.New(), faults.Deployment{}).Not == "" {
			t.Errorf("no item is a %s", k.Name)
		}
	}
}

var measured = regexp.MustCompile(`, [0-9.ms]+ after it stopped`)

// sentences are the faults of a history, sorted: those that happen at once may come in another order.
func sentences(h history.History) string {
	var lines []string
	for _, e := range h {
		if e.Kind == history.Fault || e.Kind == history.Crash {
			lines = append(lines, strings.Join([]string{faults.EventName(&e), e.Process, e.Node, measured.ReplaceAllString(e.Detail, "")}, " | "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
