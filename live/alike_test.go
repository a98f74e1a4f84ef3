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
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// everything is a timeline with each kind of fault that tier live can have, several in more than one way.
const everything = `
  - {at: 0s, client: client-1, do: [try-lock, sleep: 1s]}
  - {at: 200ms, fault: {clock-step: {process: A, by: -1s}}}
  - {at: 400ms, fault: {clock-rate: {process: B, rate: 10%, for: 200ms}}}
  - {at: 650ms, fault: {clock-stall: {process: client-2, for: 100ms}}}
  - {at: 700ms, fault: {clock-stall: {process: C, for: 100ms}}}
  - {at: 800ms, fault: {partition: {clients: [client-1], for: 200ms}}}
  - {at: 1200ms, fault: {hold: {clients: [client-2], nodes: [A, B], for: 200ms}}}
  - {at: 1600ms, fault: {delay: {clients: [client-1], direction: replies, by: 10ms, for: 200ms}}}
  - {at: 2000ms, fault: {reset: {}}}
  - {at: 2200ms, fault: {kill: {node: C, restart-after: 200ms}}}
  - {at: 2600ms, fault: {power-loss: {node: D, restart-after: 0s}}}
  - {at: 2900ms, fault: {evict: {node: E}}}
  - {at: 3000ms, fault: {shutdown: {node: E}}}
  - {at: 3100ms, fault: {evict: {node: E}}}
  - {at: 3200ms, fault: {restart: {node: E}}}
  - {at: 3400ms, fault: {kill: {node: E, restart-after: 200ms, by-wall-clock: true}}}
  - {at: 3800ms, fault: {pause: {process: client-1, for: 400ms}}}
  - {at: 4000ms, fault: {pause: {process: client-1, for: 400ms}}}
  - {at: 4600ms, fault: {pause: {process: B}}}
  - {at: 4800ms, fault: {resume: {process: B}}}
  - {at: 5000ms, fault: {suspend: {client: client-1, for: 200ms}}}
  - {at: 5400ms, fault: {promote: {node: A, replica: A2, clients: [client-2]}}}
  - {at: 5500ms, fault: {failover: {node: C, replica: C2, after: 200ms, restart-after: 400ms}}}
  - {at: 5600ms, fault: {kill: {node: A}}}
  - {at: 5700ms, fault: {kill: {node: A}}}
  - {at: 5800ms, fault: {stuck: {client: client-1}}}
  - {at: 6000ms, fault: {crash: {client: client-2}}}
  - {at: 6200ms, fault: {partition: {}}}
  - {at: 6400ms, fault: {kill: {node: B}}}
heal: 7s
nodes: {replicas: {A: [A2], C: [C2]}}`

// TestFaultsAreAlike: one engine injects faults into worlds of the simulator and into processes, so that a timeline with all
// of them reads alike on both tiers, refusals included; only how long a node was down is measured.
func TestFaultsAreAlike(t *testing.T) {
	livetest.NeedsServer(t) // alone: its many moments are close to each other
	s := small(t, "ttl: 60s", everything)
	*s.Heal, s.Duration = 10*time.Second, time.Minute // which only a busy machine needs
	kinds := map[string]bool{}
	for _, item := range s.Timeline {
		kinds[item.Kind] = true
	}
	for _, k := range faults.Vocabulary() {
		if !kinds[k.Name] && faults.LiveOf(k.New(), faults.Deployment{}).Not == "" {
			t.Errorf("no item is a %s", k.Name)
		}
	}
	simulated, err := scenarios.Judge(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine what is to happen in between may come after, and two pauses become one.
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		o := options()
		o.Speed = attemptSpeed(t)
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

// sentences are the faults of a history, sorted: on a busy machine two may come in another order.
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
