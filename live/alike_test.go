//go:build linux

package live_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall/retry"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/speed"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// everything is a timeline with each kind of fault that tier live can have, several in more than one way. Each waits for what
// it must come after, so that a busy machine makes it longer, and no other one of it.
const everything = `
  - {at: 0s, client: client-1, do: [try-lock, sleep: 1s]}
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
  - {after: {event: crash}, plus: 50ms, fault: {partition: {}}}
  - {after: {event: crash}, plus: 100ms, fault: {kill: {node: B}}}
heal: 7s
nodes: {replicas: {A: [A2], C: [C2]}}`

// TestFaultsAreAlike: one engine injects faults into worlds of the simulator and into processes, so that a timeline with all
// of them reads alike on both tiers, refusals included; only how long a node was down is measured.
func TestFaultsAreAlike(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	s := small(t, "ttl: 10m", everything)
	kinds := map[string]bool{}
	for _, item := range s.Timeline {
		kinds[item.Kind] = true
	}
	for _, k := range faults.Vocabulary() {
		if !kinds[k.Name] && faults.LiveOf(k.New(), faults.Deployment{}).Not == "" {
			t.Errorf("no item is a %s", k.Name)
		}
	}
	*s.Heal, s.Duration = 10*time.Second, time.Minute
	simulated, err := scenarios.Judge(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Faults end at the end at the latest, even if the machine is so busy that not all have happened.
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		o := options()
		o.Speed = speed.Default
		*s.Heal = 25 * time.Second * t.Slower * t.Slower
		s.Duration = *s.Heal + time.Second
		real, err := live.Run(t.Context(), s, o)
		if errors.Is(err, live.ErrNoCompiler) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sentences(real.History), sentences(simulated.History); got != want {
			t.Errorf("on tier live\n%s\nin the simulator\n%s", got, want)
		}
		if got, want := fmt.Sprint(real.NotInjected), fmt.Sprint(simulated.NotInjected); got != want || len(real.NotInjected) != 2 {
			t.Errorf("on tier live %s could not happen, in the simulator %s", got, want)
		}
	})
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
