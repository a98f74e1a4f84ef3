package shrink

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

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
		strip(root, test.name)
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
