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
			Used{ClockRate: PPM(100), ClockStep: second, Delay: second, Pause: second, Restarts: []Amnesia{{Node: "A", After: second}, {Node: "B", After: minute}}}, ""},
		{"a rate", Budget{ClockRate: PPM(100)}, Used{ClockRate: PPM(101)}, "a clock ran 0.0101% wrong, the budget is 0.01%"},
		{"a step", Budget{}, Used{ClockStep: 1}, "a clock step of 1ns, the budget is 0s"},
		{"a delay", Budget{Delay: second}, Used{Delay: second + 1}, "an extra delay of 1.000000001s, the budget is 1s"},
		{"a pause", Budget{Pause: second}, Used{Pause: minute}, "a pause of 1m0s, the budget is 1s"},
		{"a pause without end", Budget{Pause: second}, Used{Pause: unbounded}, "a pause without an end, the budget is 1s"},
		{"memory, none may", Budget{}, Used{Restarts: []Amnesia{{Node: "A", After: minute}}}, "A came back without its memory after 1m0s, the budget allows that to no node"},
		{"memory, one may", Budget{MemoryLoss: 1}, Used{Restarts: []Amnesia{{Node: "A", After: 0}, {Node: "A", After: second}}}, "A came back without its memory after 1s, the budget allows that to one node"},
		{"memory, two may", Budget{MemoryLoss: 2}, Used{Restarts: []Amnesia{{Node: "A", After: 0}, {Node: "B", After: 0}, {Node: "C", After: 0}}}, "C came back without its memory after 0s, the budget allows that to 2 nodes"},
		{"memory, after a delay", Budget{RestartDelay: &minute}, Used{Restarts: []Amnesia{{Node: "A", After: minute}, {Node: "B", After: minute - 1}}}, "B came back without its memory after 59.999999999s, the budget allows that to no node before 1m0s"},
		{"counters, none may", Budget{RestartDelay: &second}, Used{Restarts: []Amnesia{{Node: "A", After: minute, Counters: true}}},
			"A lost fencing counters, the budget allows that to no node"},
		{"counters, one may, twice", Budget{RestartDelay: &second, CounterLoss: 1},
			Used{Restarts: []Amnesia{{Node: "A", After: minute, Counters: true}, {Node: "A", After: minute, Counters: true}, {Node: "B", After: minute}}}, ""},
		{"counters, two may", Budget{RestartDelay: &second, CounterLoss: 2},
			Used{Restarts: []Amnesia{{Node: "A", After: minute, Counters: true}, {Node: "B", After: minute, Counters: true}, {Node: "C", After: minute, Counters: true}}},
			"A, B, C lost fencing counters, the budget allows that to 2 nodes"},
		{"replicas, which no delay makes good", Budget{MemoryLoss: 1, RestartDelay: new(time.Duration)}, Used{Replaced: []Replaced{{"A", false}, {"B", false}}},
			"B was replaced by a replica that does not know all it did, the budget allows one node to lose memory"},
		{"replicas without counters", Budget{MemoryLoss: 1}, Used{Replaced: []Replaced{{"A", true}}}, "A lost fencing counters, the budget allows that to no node"},
		{"evictions, as many as may forget", Budget{MemoryLoss: 2, CounterLoss: 1},
			Used{Restarts: []Amnesia{{Node: "A", After: 0}}, Evictions: []Eviction{{"B", true, true}, {"C", false, false}}}, ""},
		{"evictions, which no delay makes good", Budget{MemoryLoss: 1, RestartDelay: new(time.Duration)},
			Used{Restarts: []Amnesia{{Node: "A", After: 0}}, Evictions: []Eviction{{"B", true, false}, {"C", true, true}}},
			"C lost locks by an eviction, the budget allows one node to lose memory; C lost fencing counters, the budget allows that to no node"},
		{"several", Budget{}, Used{Pause: 1, Delay: 1}, "an extra delay of 1ns, the budget is 0s; a pause of 1ns, the budget is 0s"},
	} {
		if got := strings.Join(test.budget.Beyond(test.used), "; "); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}
