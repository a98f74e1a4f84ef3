package faults

import (
	"testing"

	"redlocksim/redlock"
	"redlocksim/sim"
	"redlocksim/sim/model"
)

func TestPromote(t *testing.T) {
	group := Names{Clients: []string{"c1", "c2"}, Nodes: []string{"A", "A2"}, Replicas: map[string][]string{"A": {"A2"}}}
	for _, test := range []struct {
		lag  bool
		want string
		lost int
	}{
		{false, "A2, the replica of A, is promoted with all that A knew; c2 talks to it now", 0},
		{true, "A2, the replica of A, is promoted with less than A knew; c2 talks to it now", 1},
	} {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Replicas: group.Replicas, Latency: sim.Constant(5 * ms),
			Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}}}, model.New())
		t.Cleanup(w.Close)
		f := NewField(w)
		lag := &Partition{Links: links("A", "A2", sim.Both)}
		promote := &Promote{Node: "A", Replica: "A2", Clients: []string{"c2"}}
		for _, fault := range []Fault{lag, promote} {
			if problems := fault.Check(group); problems != nil {
				t.Fatal(problems)
			}
		}
		if test.lag {
			at(0.1, lag).Arm(f)
		}
		set(f, 500*ms, 0, "k", redlock.OpAcquire, nil)
		at(1, promote).Arm(f)
		w.Kernel.Run(sim.True(10e9))
		h := w.History()
		if got := h[len(h)-1].Detail; got != test.want || len(f.Spent.Restarts) != test.lost {
			t.Errorf("%s, %v; want %s", got, f.Spent.Restarts, test.want)
		}
		if a, b := w.Serving(w.Client("c1"), "A"), w.Serving(w.Client("c2"), "A"); a != "A" || b != "A2" {
			t.Errorf("c1 is served by %s, c2 by %s", a, b)
		}
	}
}

func TestCheckOfReplication(t *testing.T) {
	group := Names{Clients: []string{"c1"}, Nodes: []string{"A", "B", "A2"}, Replicas: map[string][]string{"A": {"A2"}}}
	for _, bad := range []Fault{
		&Promote{Node: "A", Replica: "B"}, &Promote{Node: "X", Replica: "A2"}, &Promote{Node: "B", Replica: "A2"},
		&Promote{Node: "A", Replica: "A2", Clients: []string{"A"}},
		&Partition{Links: links("A", "B", sim.Both)}, &Partition{Links: links("A", "", sim.Both)}, &Partition{Links: links("B", "A", sim.Both)},
	} {
		if bad.Check(group) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
