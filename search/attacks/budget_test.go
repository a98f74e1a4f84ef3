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

// alike are the faults of attacks that use what a fault takes from the budget, where it is not the fault itself.
var alike = map[string]struct{ by, why string }{
	"clock-stall": {"clock-rate", "it is a clock that is slow by 100 %"},
	"shutdown":    {"kill", "it keeps as much on the disk or more"},
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

// terms are the keys of the budget, and what a budget says that has each of them and as little else as can be.
func terms(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	budget := reflect.TypeFor[faults.Budget]()
	for i := range budget.NumField() {
		key, _, _ := strings.Cut(budget.Field(i).Tag.Get("yaml"), ",")
		switch of := budget.Field(i).Type; of {
		case reflect.TypeFor[faults.Rate]():
			all[key] = key + ": 5%"
		case reflect.TypeFor[time.Duration](), reflect.TypeFor[*time.Duration]():
			all[key] = key + ": 1s"
		case reflect.TypeFor[int]():
			all[key] = key + ": 1"
		case reflect.TypeFor[bool]():
			all[key] = least + ", " + key + ": true" // it is about nodes that come back
		default:
			t.Fatalf("what %s is like, a %v, is not known", key, of)
		}
	}
	return all
}

// least is a budget in which the least is used, but that nodes come back.
const least = "restart-delay: 1s"

// Each term of the budget is used by the attacks that say so, and by no other. A term that no attack uses can break a lock
// that audit and sweep call safe.
func TestAttacksUseTheWholeBudget(t *testing.T) {
	known := terms(t)
	for term, budget := range known {
		without := "clock-rate: 0%"
		if strings.HasPrefix(budget, least+", ") {
			without = least
		}
		_, before := every(t, without)
		_, after := every(t, budget)
		used := false
		for _, a := range All() {
			uses, says := before[a.Name] != after[a.Name], slices.Contains(a.Uses, term) || term == "delay"
			if used = used || uses; uses != says {
				t.Errorf("%s uses %s: %v, and it says %v", a.Name, term, uses, says)
			}
		}
		if !used {
			t.Errorf("no attack uses %s", term)
		}
	}
	for _, a := range All() {
		for _, term := range a.Uses {
			if known[term] == "" {
				t.Errorf("%s uses %s, and there is no such key of the budget", a.Name, term)
			}
		}
	}
}

// Each fault that takes something from the budget, which random searches inject, is a part of an attack, or does no more than
// one that is.
func TestAttacksInjectEveryFault(t *testing.T) {
	injected := map[string]bool{}
	for _, budget := range terms(t) {
		kinds, _ := every(t, budget)
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
		other, isAlike := alike[kind.Name]
		switch {
		case !injected[kind.Name] && !injected[other.by]:
			t.Errorf("no attack injects %s, which takes %v from the budget, and alike has none that does as much", kind.Name, kind.Takes)
		case injected[kind.Name] && isAlike:
			t.Errorf("alike has %s, which an attack injects", kind.Name)
		}
	}
	if taking < len(alike)+5 {
		t.Errorf("only %d faults take something from the budget", taking)
	}
}
