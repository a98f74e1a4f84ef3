package shrink

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// TestTidy: what is left is in the order of its times, with the names and at the times that it would have alone.
func TestTidy(t *testing.T) {
	start := parse(t, head+`clients: [client-2, client-3, client-7]
nodes: {names: [B, D, E]}
timeline:
  - {at: 9300ms, client: client-3, do: [{with-lock: 1s}]}
  - {at: 9200ms, client: client-7, do: [lock, update]}
  - {at: 9200ms, fault: {partition: {clients: [client-7], nodes: [D]}}}
`+tail)
	// Each locks, client-7 30 to 200 ms before the other, and the second node is cut off from it.
	broken := func(s *scenarios.Scenario) bool {
		at := map[string]time.Duration{}
		for _, item := range s.Timeline {
			if item.Fault == nil && slices.ContainsFunc(item.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.LockStep || s.Kind == scenarios.WithLockStep }) {
				at[item.Client] = item.When.At
			}
		}
		for _, item := range s.Timeline {
			if f, ok := item.Fault.(*faults.Partition); ok && len(at) == 2 && len(s.Nodes.Names) == 3 && len(f.Clients) == 1 && slices.Equal(f.Nodes, s.Nodes.Names[1:2]) {
				for name, other := range at {
					if name != f.Clients[0] {
						gap := other - at[f.Clients[0]]
						return gap >= 30*time.Millisecond && gap <= 200*time.Millisecond
					}
				}
			}
		}
		return false
	}
	const want = `nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [B]}}}
  - {at: 30ms, client: client-2, do: [lock]}
`
	if got := text(t, smallest(t, start, broken)); !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
}

// TestPlainTimes: a program starts later in the place of a sleep, and two times are the same that need not differ.
func TestPlainTimes(t *testing.T) {
	start := parse(t, head+`clients: [client-1, client-2]
timeline:
  - {at: 0s, client: client-1, do: [{sleep: 1234ms}, lock]}
  - {at: 1765ms, client: client-2, do: [lock]}
`+tail)
	broken := func(s *scenarios.Scenario) bool {
		begins := map[string]time.Duration{}
		for _, item := range s.Timeline {
			at := item.When.At
			for _, step := range item.Do {
				if step.Kind == scenarios.LockStep {
					begins[item.Client] = at
				}
				if step.Kind == scenarios.SleepStep {
					at += step.For
				}
			}
		}
		return begins["client-1"] >= time.Second && begins["client-2"] > 1500*time.Millisecond
	}
	const want = `timeline:
  - {at: 2s, client: client-1, do: [lock]}
  - {at: 2s, client: client-2, do: [lock]}
`
	if got := text(t, smallest(t, start, broken)); !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
}

// TestObserved: what is repeated, or waits for the nth event, is placed where the run shows it, if that is all that matters.
func TestObserved(t *testing.T) {
	start := parse(t, head+`clients: [client-2]
timeline:
  - {at: 0s, client: client-2, do: [{sleep: 700ms}, lock: 5ms, unlock], repeat: 30, goroutines: 2}
  - {after: {event: acquire-done, nth: 9}, fault: {evict: {node: A}}}
`+tail)
	ran := history.History{
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(3 * time.Second)},
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(7 * time.Second)},
		{Kind: history.Fault, Name: "evict", Time: int64(8 * time.Second)},
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(9 * time.Second)},
	}
	// A program at 7 s, which has the time that it takes, and a fault at 8 s, or what was there to begin with.
	broken := func(s *scenarios.Scenario) (history.History, error) {
		program := slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
			return i.Fault == nil && len(i.Do) > 0 && (i.Repeat == 30 && i.Goroutines == 2 ||
				i.Repeat == 1 && i.Goroutines == 0 && i.When.At == 7*time.Second && i.Do[0].Kind == scenarios.LockStep && i.Do[0].For == usualWait)
		})
		fault := slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
			return i.Fault != nil && (i.When.After != nil && i.When.After.Nth == 9 || i.When.At == 8*time.Second)
		})
		if !program || !fault {
			return nil, nil
		}
		return ran, nil
	}
	small, _, err := minimize(t.Context(), start, nil, broken, enough)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- {at: 7s, client: client-1, do: [lock]}", "- {at: 8s, fault: {evict: {node: A}}}"} {
		if got := text(t, small); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestStrip: what names a process goes with it, and no fault comes to affect all because the one that it affected is gone.
func TestStrip(t *testing.T) {
	const file = `title: t
source: s
explanation: e
claim: holds
clients: [c1, c2]
nodes: {names: [A, B, C], replicas: {A: [A2], B: [B2, B3]}}
timeline:
  - {at: 0s, client: c1, do: [lock, unlock]}
  - {after: {event: acquire-done, client: c1}, fault: {pause: {process: c2}}}
  - {after: {event: kill, node: A}, client: c2, do: [lock, unlock]}
  - {at: 1s, fault: {partition: {clients: [c1], nodes: [A, B]}}}
  - {at: 2s, fault: {hold: {clients: [c1, c2], nodes: [B], for: 1s}}}
  - {at: 3s, fault: {promote: {node: B, replica: B2}}}
expect: {findings: safe, unavailable: {at-most: 1s}, grants: {c1: 1, c2: 2}}
`
	for _, test := range []struct {
		name, want string
		items      int
	}{
		{"c1", "clients: [c2]|{after: {event: kill, node: A}, client: c2|hold: {clients: [c2], nodes: [B]|promote|grants: {c2: 2}", 3},
		{"B", "names: [A, C], replicas: {A: [A2]}|client: c1, do|pause|{after: {event: kill, node: A}, client: c2|partition: {clients: [c1], nodes: [A]}", 4},
		{"B2", "replicas: {A: [A2], B: [B3]}|client: c1, do|pause|{after: {event: kill, node: A}, client: c2|partition: {clients: [c1], nodes: [A, B]}|hold", 5},
		{"A2", "names: [A, B, C], replicas: {B: [B2, B3]}|client: c1, do|pause|client: c2, do|partition|hold|promote", 6},
	} {
		root, err := strictyaml.ValueOf(file)
		if err != nil {
			t.Fatal(err)
		}
		strip(root, test.name, false)
		data, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		found, err := scenarios.Parse("x.yaml", data)
		if err != nil {
			t.Fatalf("without %s: %v\n%s", test.name, err, data)
		}
		s := found[0]
		if data, err = s.Encode(); err != nil {
			t.Fatal(err)
		}
		for word := range strings.SplitSeq(test.want, "|") {
			if !strings.Contains(string(data), word) {
				t.Errorf("without %s there is no %q in\n%s", test.name, word, data)
			}
		}
		if len(s.Timeline) != test.items {
			t.Errorf("without %s there are %d items, want %d:\n%s", test.name, len(s.Timeline), test.items, data)
		}
	}
}

// TestMergedResources: nothing names a resource that was taken out, and what named both names one.
func TestMergedResources(t *testing.T) {
	root, err := strictyaml.ValueOf("{resources: [a, b, c], timeline: [{resource: [a, b], do: [lock, {write: b}, {write: b}]}, {after: {resource: b}, resource: [c]}]}")
	if err != nil {
		t.Fatal(err)
	}
	rename(root, map[string]string{"b": "a"})
	const want = "{resources: [a, c], timeline: [{resource: [a], do: [lock, {write: a}, {write: a}]}, {after: {resource: a}, resource: [c]}]}\n"
	if got, err := yaml.Marshal(root); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
