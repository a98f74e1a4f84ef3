package scenarios_test

import (
	"slices"
	"testing"

	"redlocksim/scenarios"
)

// A key without a time to live is a leak on the replica as well: it is what the next master will have.
func TestReplicasLeak(t *testing.T) {
	all, err := scenarios.Parse("x.yaml", []byte(`
title: t
source: s
explanation: e
claim: unsound
lock: {protocol: setnx-expire}
nodes: {names: [A], replicas: {A: [A2]}}
clients: [a]
timeline:
  - {at: 0s, client: a, do: [try-lock]}
  - {after: {client: a, event: set-without-ttl}, fault: {crash: {client: a}}}
duration: 10s
expect: {findings: safe, leaks: [R], unavailable: unbounded}
`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := scenarios.Run(all[0], scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []scenarios.Leak{{Key: "R", Node: "A"}, {Key: "R", Node: "A2"}}; !slices.Equal(out.Leaks, want) {
		t.Errorf("the leaks are %v, want %v", out.Leaks, want)
	}
}
