package attacks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// terms are the attacks that use each term of the budget. A term that no attack uses can break a lock that audit and sweep call
// safe.
var terms = map[string]struct {
	budget  string
	attacks []string
}{
	"clock-rate": {"clock-rate: 5%", []string{"clocks", "restart", "pause", "timeout", "crash", "work"}},
	"clock-step": {"clock-step: 100ms", []string{"clocks", "restart", "pause"}},
	// The holder's writes are late in all of them.
	"delay":         {"delay: 1s", []string{"clocks", "restart", "memory-loss", "failover", "counters", "split", "late-extend", "lost-extend", "late-release", "pause", "timeout", "crash", "work"}},
	"pause":         {"pause: 1s", []string{"pause"}},
	"suspend":       {"suspend: 1s", []string{"clocks", "restart", "pause"}},
	"restart-delay": {"restart-delay: 1s", []string{"restart"}},
	"memory-loss":   {"memory-loss: 1", []string{"memory-loss", "failover"}},
	"no-power-loss": {"restart-delay: 1s, no-power-loss: true", []string{"restart"}},
	"counter-loss":  {"counter-loss: 1", []string{"counters"}},
}

// alike are the faults of attacks that use what a fault takes from the budget, where it is not the fault itself.
var alike = map[string]struct{ by, why string }{
	"clock-stall": {"clock-rate", "it is a clock that is slow by 100 %"},
	"hold":        {"delay", "it is a delay of each message until a moment"},
	"shutdown":    {"kill", "it keeps as much on the disk or more"},
	"restart":     {"kill", "it is the end of an outage"},
	"failover":    {"kill", "the replica is as good as the node with an empty memory, or better"},
}

// every builds all attacks under a budget: the faults, and the scenarios, of each.
func every(t *testing.T, budget string) (kinds []string, built map[string]string) {
	t.Helper()
	s, err := scenarios.ParseSettings("settings", []byte("lock: {ttl: 8s, fencing: true, clock: wall}\nnodes: {persistence: none}\nbudget: {"+budget+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	built = map[string]string{}
	for _, x := range All() {
		var all strings.Builder
		for _, way := range x.build(&Settings{Scenario: s, Pause: s.Budget.Pause, Work: time.Second}) {
			for _, item := range way.Timeline {
				if item.Fault == nil {
					continue
				}
				kinds = append(kinds, item.Kind)
				fmt.Fprintf(&all, "%s %v\n", item.Kind, item.Fault)
			}
		}
		built[x.Name] = all.String()
	}
	return kinds, built
}

// Each term of the budget is used by the attacks that are listed, and none is missing from the list.
func TestAttacksUseTheWholeBudget(t *testing.T) {
	budget := reflect.TypeFor[faults.Budget]()
	for i := range budget.NumField() {
		term, _, _ := strings.Cut(budget.Field(i).Tag.Get("yaml"), ",")
		if len(terms[term].attacks) == 0 {
			t.Errorf("no attack uses %s", term)
		}
	}
	for term, want := range terms {
		without := "clock-rate: 0%"
		if term == "no-power-loss" {
			without = "restart-delay: 1s"
		}
		_, before := every(t, without)
		_, after := every(t, want.budget)
		for _, x := range All() {
			uses := before[x.Name] != after[x.Name]
			if listed := slices.Contains(want.attacks, x.Name); uses != listed {
				t.Errorf("%s: %s uses it: %v, listed: %v", term, x.Name, uses, listed)
			}
		}
	}
}

// Each fault that takes something from the budget, which random searches inject, is a part of an attack, or does no more than
// one that is.
func TestAttacksInjectEveryFault(t *testing.T) {
	injected := map[string]bool{}
	for _, term := range terms {
		kinds, _ := every(t, term.budget)
		for _, kind := range kinds {
			injected[kind] = true
		}
	}
	taking := 0
	for _, kind := range faults.Vocabulary() {
		if len(kind.Takes) == 0 {
			continue
		}
		taking++
		as := kind.Name
		if other, ok := alike[as]; ok {
			as = other.by
		}
		if !injected[as] {
			t.Errorf("no attack injects %s, which takes %v from the budget", kind.Name, kind.Takes)
		}
	}
	if taking < len(alike)+5 {
		t.Errorf("only %d faults take something from the budget", taking)
	}
}
