package scenarios

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim"
)

// Random draws a whole experiment: settings, topology, workload and faults, from all of the vocabulary and without a
// budget. Every family of faults is off in half of the experiments, so that some are stormy in one way and calm in all
// others. It claims and expects nothing: it is for finding out whether runs repeat and tiers agree.
func Random(seed uint64) *Scenario {
	d := draw{sim.Key(0).WithString("scenario").With(seed)}
	s := Default()
	s.Name = fmt.Sprintf("random-%d", seed)
	s.Title, s.Source, s.Explanation, s.Claim = "a random experiment", "none", "none", Holds
	s.Duration = 30 * time.Second
	s.Nodes.Names = []string{"A", "B", "C", "D", "E"}[:d.of("nodes").pick(3, 5, 5, 5, 4, 1)]
	s.Nodes.Persistence.Persistence = []sim.Persistence{sim.NoPersistence, sim.EverySecond, sim.Always}[d.of("persistence").below(3)]
	s.Lock.TTL = time.Duration(d.of("ttl").pick(200, 1000, 3000)) * time.Millisecond
	s.Lock.NodeTimeout = time.Duration(d.of("node-timeout").pick(10, 50, 100)) * time.Millisecond
	s.Network.Latency.Latency = sim.Uniform(0, time.Duration(d.of("latency").pick(0, 2, 5, 30))*time.Millisecond)
	if d.of("wall").below(4) == 0 {
		s.Lock.Clock.ClockKind = sim.WallClock
	}
	for i := range 2 + d.of("clients").below(3) {
		s.Clients = append(s.Clients, fmt.Sprintf("client-%d", i+1))
		s.Timeline = append(s.Timeline, d.of("work").with(i).work(&s, s.Clients[i]))
	}
	for i, name := range s.Nodes.Names {
		if replicas := d.of("replicas").with(i).pick(0, 0, 0, 1, 2); replicas > 0 {
			s.Nodes.Replicas = append(s.Nodes.Replicas, strictyaml.Entry[[]string]{Key: name, Value: []string{name + "2", name + "3"}[:replicas]})
		}
	}
	names := s.Processes()
	for _, w := range faults.Vocabulary() {
		family := d.of(w.Name)
		if family.of("off").below(2) == 0 || w.Name == "promote" && s.Nodes.Replicas == nil {
			continue
		}
		for i := range 1 + family.of("count").below(3) {
			one := family.with(i)
			s.Timeline = append(s.Timeline, Item{When: one.moment(names), Kind: w.Name, Fault: one.fill(w.New(), names)})
		}
	}
	return &s
}

// draw is a choice to be made; what it is for names it.
type draw struct{ key sim.Key }

func (d draw) of(what string) draw    { return draw{d.key.WithString(what)} }
func (d draw) with(i int) draw        { return draw{d.key.With(uint64(i))} }
func (d draw) below(n int) int        { return int(d.key.Below(uint64(n))) }
func (d draw) pick(values ...int) int { return values[d.below(len(values))] }
func (d draw) one(of []string) string { return of[d.below(len(of))] }
func (d draw) length() time.Duration  { return time.Duration(d.below(int(5 * time.Second))) }
func (d draw) instant() time.Duration { return time.Duration(d.below(int(20 * time.Second))) }
func (d draw) some(of []string) (s []string) {
	for i, name := range of {
		if d.with(i).below(2) == 0 {
			s = append(s, name)
		}
	}
	return s
}

// work is what a client does all the time.
func (d draw) work(s *Scenario, client string) Item {
	hold := time.Duration(d.of("hold").below(int(2*s.Lock.TTL))) + 1
	steps := [][]Step{
		{{LockStep, 5 * time.Second}, {UpdateStep, 0}, {HoldStep, hold}, {UnlockStep, 0}},
		{{TryLockStep, 0}, {WriteStep, 0}, {UnlockStep, 0}, {SleepStep, hold}},
		{{LockStep, 5 * time.Second}, {HoldStep, s.Lock.TTL / 3}, {ExtendStep, s.Lock.TTL}, {UpdateStep, 0}, {HoldStep, hold}, {UnlockStep, 0}},
		{{TryLockStep, 0}, {SleepStep, hold}},
	}
	return Item{When: faults.Trigger{At: time.Duration(d.of("start").below(int(100 * time.Millisecond)))},
		Client: client, Do: steps[d.of("steps").below(len(steps))], Repeat: 1 + d.of("repeat").below(30)}
}

// moment is a time, or a step of the algorithm.
func (d draw) moment(n faults.Names) faults.Trigger {
	if d.of("kind").below(2) == 0 {
		return faults.Trigger{At: d.of("at").instant()}
	}
	steps := redlock.Steps()
	return faults.Trigger{After: &faults.Moment{
		Event:  steps[d.of("step").below(len(steps))].String(),
		Client: d.of("client").one(n.Clients),
		Nth:    1 + d.of("nth").below(5),
	}, Plus: time.Duration(d.of("plus").pick(0, 0, 1, 100)) * time.Millisecond}
}

// fill gives a fault random knobs.
func (d draw) fill(f faults.Fault, n faults.Names) faults.Fault {
	process := d.of("process").one(append(append([]string(nil), n.Clients...), n.Nodes...))
	client, node := d.of("client").one(n.Clients), d.of("node").one(n.Nodes)
	length := d.of("length").length() + 1
	links := faults.Links{Clients: d.of("clients").some(n.Clients), Nodes: d.of("nodes").some(n.Nodes)}
	links.Direction.Direction = []sim.Direction{sim.Both, sim.Requests, sim.Replies}[d.of("direction").below(3)]
	outage := faults.Outage{Node: node}
	if d.of("restarts").below(4) > 0 {
		after := length * time.Duration(d.of("at once").below(2))
		outage.RestartAfter = &after
	}
	switch f := f.(type) {
	case *faults.ClockStep:
		f.Process, f.By = process, length-2500*time.Millisecond
	case *faults.ClockRate:
		f.Process, f.Rate, f.For = process, faults.PPM(int64(d.of("rate").below(400_000))-200_000), length
	case *faults.Partition:
		f.Links, f.For = links, length
	case *faults.Hold:
		f.Links, f.For = links, length
	case *faults.Delay:
		f.Links, f.By, f.For = links, length/10+1, length
	case *faults.Reset:
		f.Links = links
	case *faults.Kill:
		f.Outage = outage
	case *faults.PowerLoss:
		f.Outage = outage
	case *faults.Shutdown:
		f.Outage = outage
	case *faults.Restart:
		f.Node = node
	case *faults.Promote:
		for _, name := range n.Nodes {
			if len(n.Replicas[name]) > 0 && (f.Node == "" || name == node) {
				f.Node, f.Replica = name, d.of("replica").one(n.Replicas[name])
			}
		}
		f.Clients = d.of("told").some(n.Clients)
	case *faults.Pause:
		f.Process, f.For = process, length
	case *faults.Suspend:
		f.Client, f.For = client, length
	case *faults.Resume:
		f.Process = process
	case *faults.Stuck:
		f.Client = client
	case *faults.Crash:
		f.Client = client
	}
	return f
}
