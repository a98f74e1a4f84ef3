package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/service"
)

// Clients can learn of a promotion one after another. Once all of them have, there is nothing to promote.
func TestPromote(t *testing.T) {
	group := Names{Clients: []string{"c1", "c2"}, Nodes: []string{"A", "A2"}, Replicas: map[string][]string{"A": {"A2"}}}
	for _, test := range []struct {
		lag  bool
		want string
	}{
		{false, "A2, the replica of A, is promoted with all that A knew; c2 talks to it now"},
		{true, "A2, the replica of A, is promoted with less than A knew; c2 talks to it now"},
	} {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Replicas: group.Replicas, Latency: network.Constant(5 * ms),
			Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}}}, model.New())
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		f := &testField{NewField(In(w)), w}
		lag := &Partition{Links: Links{Nodes: []string{"A"}, Peers: []string{"A2"}}}
		promote := &Promote{Node: "A", Replica: "A2", Clients: []string{"c2"}}
		for _, fault := range []Fault{lag, promote} {
			if problems := Check(fault, group); problems != nil {
				t.Fatal(problems)
			}
		}
		if test.lag {
			at(0.1, lag).Arm(f.Field)
		}
		set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
		later, again := at(3, &Promote{Node: "A", Replica: "A2"}), at(4, &Promote{Node: "A", Replica: "A2", Clients: []string{"c1", "c2"}})
		for _, p := range []*Placed{at(1, promote), later, again} {
			p.Arm(f.Field)
		}
		for _, step := range []struct {
			until  float64
			c1, c2 string // who serves them then
			want   string
		}{{2, "A", "A2", test.want}, {10, "A2", "A2", "c1 learns that A2 has replaced A"}} {
			w.Kernel.Run(kernel.True(step.until * 1e9))
			h := w.History()
			if got := h[len(h)-1].Detail; got != step.want || len(f.Used.Lost) != 1 {
				t.Errorf("%s, %v; want %s", got, f.Used.Lost, step.want)
			}
			if a, b := w.MasterOf(w.Client("c1"), "A"), w.MasterOf(w.Client("c2"), "A"); a != step.c1 || b != step.c2 {
				t.Errorf("c1 is served by %s, c2 by %s", a, b)
			}
		}
		if again.Injected || again.Err == nil || again.Err.Error() != "sim: promote: node A2 is a master already" {
			t.Errorf("it is promoted when all know: %v", again.Err)
		}
	}
}

// A failover is a loss of memory as of when the node died if nothing but the replica can be asked any more; otherwise no delay
// makes it good.
func TestFailover(t *testing.T) {
	for name, test := range map[string]struct {
		lag    bool
		before Fault
		want   []Loss
	}{
		"nothing is lost":         {want: nil},
		"the lock is lost":        {lag: true, want: []Loss{{Node: "A", By: TakenOver, After: 2 * time.Second}}},
		"in a group that was cut": {lag: true, before: &Promote{Node: "A", Replica: "A3"}, want: []Loss{{Node: "A", By: Replaced}, {Node: "A", By: Replaced}}},
	} {
		f := newField(t, redis.Always)
		if test.lag {
			at(0.1, &Partition{Links: Links{Nodes: []string{"A"}, Peers: []string{"A2", "A3"}}}).Arm(f.Field)
		}
		set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
		if test.before != nil {
			at(0.9, test.before).Arm(f.Field)
		}
		inject(t, f, at(1, &Failover{Node: "A", Replica: "A2", After: 2 * time.Second, RestartAfter: ptr(3 * time.Second)}))
		if !slices.Equal(f.Used.Lost, test.want) {
			t.Errorf("%s: %+v, want %+v\n%s", name, f.Used.Lost, test.want, told(f))
		}
		if !f.World.Server("A").IsReplica() || f.World.Server("A2").IsReplica() {
			t.Errorf("%s: A goes on as a master\n%s", name, told(f))
		}
	}
}

// A failover to a replica that is down, or after the faults were healed, is told of: it has not come to what it is for.
func TestFailoverThatFails(t *testing.T) {
	for want, meanwhile := range map[string]func(*testField) error{
		"sim: promote: node A2 is down":                func(f *testField) error { return (&Kill{Outage{Node: "A2"}}).Inject(f.Field) },
		"sim: promote: node A2 is a master already":    func(f *testField) error { return (&Promote{Node: "A", Replica: "A2"}).Inject(f.Field) },
		"the moment came after the faults were healed": func(f *testField) error { f.Heal(); return nil },
	} {
		f := newField(t, redis.Always)
		f.World.Kernel.After(1500*ms, func() {
			if err := meanwhile(f); err != nil {
				t.Error(err)
			}
		})
		inject(t, f, at(1, &Failover{Node: "A", Replica: "A2", After: time.Second}))
		if want = "A2 does not take over from A: " + want; len(f.Undone) != 1 || f.Undone[0].Err.Error() != want {
			t.Errorf("%q, want %q", f.Undone, want)
		}
	}
}

func TestCheckOfReplication(t *testing.T) {
	group := Names{Clients: []string{"c1"}, Nodes: []string{"A", "B", "A2"}, Replicas: map[string][]string{"A": {"A2"}}}
	for _, bad := range []Fault{
		&Promote{Node: "A", Replica: "B"}, &Promote{Node: "X", Replica: "A2"}, &Promote{Node: "B", Replica: "A2"},
		&Promote{Node: "A", Replica: "A2", Clients: []string{"A"}},
		&Failover{Node: "A", Replica: "B"}, &Failover{Node: "X", Replica: "A2"},
		&Failover{Node: "A", Replica: "A2", After: time.Second, RestartAfter: ptr(time.Second)},
	} {
		if Check(bad, group) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

// Each node has a link of its own to the other. What a direction selects is what is sent that way on both.
func TestLinksBetweenNodes(t *testing.T) {
	for _, test := range []struct {
		direction network.Direction
		arrive    string
	}{{network.Both, ""}, {network.Requests, "B to A"}, {network.Replies, "A to B"}} {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B", "C"}, Clients: []sim.ClientConfig{{Name: "c1"}}, Latency: network.Constant(5 * ms)}, model.New())
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		var arrived []string
		type way struct {
			name string
			peer *service.Peer
		}
		var ways []way
		for _, from := range w.Servers {
			for _, to := range w.Servers {
				if from != to {
					ways = append(ways, way{from.Name() + " to " + to.Name(), service.Connect(w.Deployment, from, to)})
				}
			}
		}
		send := func() {
			for _, x := range ways {
				x.peer.Send(func() { arrived = append(arrived, x.name) })
			}
		}
		f := &testField{NewField(In(w)), w}
		links := Links{Nodes: []string{"A"}, Peers: []string{"B"}, Direction: test.direction}
		at(1, &Partition{Links: links, For: 1000 * ms}).Arm(f.Field)
		at(3, &Delay{Links: links, By: 100 * ms, For: 1000 * ms}).Arm(f.Field)
		at(5, &Hold{Links: links, For: 1000 * ms}).Arm(f.Field)
		const others = "A to C, B to C, C to A, C to B"
		all := "A to B, " + strings.Replace(others, "B to C", "B to A, B to C", 1)
		near := sorted(others + ", " + test.arrive)
		for _, step := range []struct {
			send, look kernel.True
			want       string
		}{
			{1500e6, 1900e6, near}, {2500e6, 2900e6, sorted(all)}, // lost, and healed
			{3500e6, 3550e6, near}, {3500e6, 3900e6, sorted(all)}, // slower
			{5500e6, 5900e6, near}, {5500e6, 6100e6, sorted(all)}, // held back, and let go
		} {
			if step.send > w.Kernel.Now() {
				w.Kernel.Run(step.send)
				arrived = nil
				send()
			}
			w.Kernel.Run(step.look)
			if got := sorted(strings.Join(arrived, ", ")); got != step.want {
				t.Errorf("direction %d at %v: %s arrive, want %s", test.direction, step.look, got, step.want)
			}
		}
		for _, e := range w.History() {
			if e.Name == CutOff {
				t.Errorf("a partition between nodes is recorded as a cut-off: %+v", e)
			}
		}
	}
}

// sorted puts a list in order.
func sorted(list string) string {
	words := strings.Split(strings.TrimSuffix(list, ", "), ", ")
	slices.Sort(words)
	return strings.Join(words, ", ")
}
