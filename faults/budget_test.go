package faults

import (
	"strings"
	"testing"
	"time"
)

func TestBeyond(t *testing.T) {
	second, minute := time.Second, time.Minute
	for _, test := range []struct {
		name   string
		budget Budget
		used   Used
		want   string
	}{
		{"nothing", Budget{}, Used{}, ""},
		{"all of it", Budget{ClockRate: PPM(100), ClockStep: second, Delay: second, Pause: second, RestartDelay: &minute, MemoryLoss: 1},
			Used{ClockRate: PPM(100), ClockStep: second, Delay: second, Pause: second, Lost: []Loss{{Node: "A", After: second}, {Node: "B", After: minute}}}, ""},
		{"a rate", Budget{ClockRate: PPM(100)}, Used{ClockRate: PPM(101)}, "a clock ran 0.0101% wrong, the budget is 0.01%"},
		{"a step", Budget{}, Used{ClockStep: 1}, "a clock step of 1ns, the budget is 0s"},
		{"a delay", Budget{Delay: second}, Used{Delay: second + 1}, "an extra delay of 1.000000001s, the budget is 1s"},
		{"a pause", Budget{Pause: second}, Used{Pause: minute}, "a pause of 1m0s, the budget is 1s"},
		{"a pause without end", Budget{Pause: second}, Used{Pause: unbounded}, "a pause without an end, the budget is 1s"},
		{"memory, none may", Budget{}, Used{Lost: []Loss{{Node: "A", After: minute}}}, "A came back without its memory after 1m0s, the budget allows that to no node"},
		{"memory, one may", Budget{MemoryLoss: 1}, Used{Lost: []Loss{{Node: "A", After: 0}, {Node: "A", After: second}}}, "A came back without its memory after 1s, the budget allows that to one node"},
		{"memory, two may", Budget{MemoryLoss: 2}, Used{Lost: []Loss{{Node: "A", After: 0}, {Node: "B", After: 0}, {Node: "C", After: 0}}}, "C came back without its memory after 0s, the budget allows that to 2 nodes"},
		{"memory, after a delay", Budget{RestartDelay: &minute}, Used{Lost: []Loss{{Node: "A", After: minute}, {Node: "B", After: minute - 1}}}, "B came back without its memory after 59.999999999s, the budget allows that to no node before 1m0s"},
		{"counters, none may", Budget{RestartDelay: &second}, Used{Lost: []Loss{{Node: "A", After: minute, Counters: true}}},
			"A lost fencing counters, the budget allows that to no node"},
		{"counters, one may, twice", Budget{RestartDelay: &second, CounterLoss: 1},
			Used{Lost: []Loss{{Node: "A", After: minute, Counters: true}, {Node: "A", After: minute, Counters: true}, {Node: "B", After: minute}}}, ""},
		{"counters, two may", Budget{RestartDelay: &second, CounterLoss: 2},
			Used{Lost: []Loss{{Node: "A", After: minute, Counters: true}, {Node: "B", After: minute, Counters: true}, {Node: "C", After: minute, Counters: true}}},
			"A, B, C lost fencing counters, the budget allows that to 2 nodes"},
		{"replicas, which no delay makes good", Budget{MemoryLoss: 1, RestartDelay: new(time.Duration)}, Used{Lost: []Loss{{Node: "A", By: Replaced}, {Node: "B", By: Replaced}}},
			"B was replaced by a replica that does not know all it did, the budget allows one node to lose memory"},
		{"replicas of the dead", Budget{RestartDelay: &second}, Used{Lost: []Loss{{Node: "A", By: TakenOver, After: second}, {Node: "B", By: TakenOver, After: second - 1}}},
			"B was replaced by a replica that does not know all it did, after 999.999999ms, the budget allows that to no node before 1s"},
		{"replicas without counters", Budget{MemoryLoss: 1}, Used{Lost: []Loss{{Node: "A", By: Replaced, Counters: true}}}, "A lost fencing counters, the budget allows that to no node"},
		{"evictions, as many as may forget", Budget{MemoryLoss: 2, CounterLoss: 1},
			Used{Lost: []Loss{{Node: "A"}, {Node: "B", By: EvictedFrom, Counters: true}, {Node: "C", By: EvictedFrom, Harmless: true}}}, ""},
		{"evictions, which no delay makes good", Budget{MemoryLoss: 1, RestartDelay: new(time.Duration)},
			Used{Lost: []Loss{{Node: "A"}, {Node: "B", By: EvictedFrom}, {Node: "C", By: EvictedFrom, Counters: true}}},
			"C lost locks by an eviction, the budget allows one node to lose memory; C lost fencing counters, the budget allows that to no node"},
		{"several", Budget{}, Used{Pause: 1, Delay: 1}, "an extra delay of 1ns, the budget is 0s; a pause of 1ns, the budget is 0s"},
	} {
		if got := strings.Join(test.budget.Beyond(test.used), "; "); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}
