package dpor

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/longest"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// base is a scenario whose lock has these settings.
func base(lock string) *scenarios.Scenario {
	s := scenarios.Default()
	s.Name, s.Claim = "base", scenarios.Holds
	if err := strictyaml.Decode("lock", []byte("{"+lock+"}"), &s.Lock); err != nil {
		panic(err)
	}
	return &s
}

var (
	try    = scenarios.Step{Kind: scenarios.TryLockStep}
	unlock = scenarios.Step{Kind: scenarios.UnlockStep}
)

func hold(d time.Duration) scenarios.Step  { return scenarios.Step{Kind: scenarios.HoldStep, For: d} }
func sleep(d time.Duration) scenarios.Step { return scenarios.Step{Kind: scenarios.SleepStep, For: d} }

func once(steps ...scenarios.Step) program { return program{steps, 1} }

const (
	getSet = "protocol: get-set"
	single = "protocol: single"
)

// outcomes are the different ends of the runs of an exploration.
func outcomes(t *testing.T, s setup) (map[kernel.Key]bool, *Result) {
	t.Helper()
	found := map[kernel.Key]bool{}
	s.Each = func(r *Run) { found[r.fingerprint] = true }
	r, err := explore(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Fatalf("not complete after %d runs", r.Runs)
	}
	return found, r
}

// tiny are worlds that are small enough for all orders, without reduction.
func tiny() map[string]setup {
	kill := &scenarios.Item{Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: "A", RestartAfter: new(time.Duration)}}}
	step := &scenarios.Item{Kind: "clock-step", Fault: &faults.ClockStep{Process: "A", By: 20 * time.Second}}
	crash := &scenarios.Item{Kind: "crash", Fault: &faults.Crash{Client: "client-1"}}
	pause := &scenarios.Item{Kind: "pause", Fault: &faults.Pause{Process: "client-1", For: 70 * time.Millisecond}}
	cut := &scenarios.Item{Kind: "partition", Fault: &faults.Partition{Links: faults.Links{Clients: []string{"client-1"}, Nodes: []string{"A"}}}}
	stall := &scenarios.Item{Kind: "pause", Fault: &faults.Pause{Process: "A", For: 70 * time.Millisecond}}
	const short = 80 * time.Millisecond // past the first node timeout
	late := func(s setup) setup { s.Late = 1; return s }
	two := []program{once(try), once(try)}
	without := func(s setup) setup { s.Late = -1; return s }
	// With a quorum of one and a link that is cut from the beginning, one client releases A as another is granted B: the
	// first is granted A after 50 ms, when it has waited for B long enough.
	careless := newSetup(base("protocol: redlock-plain, quorum: 1"), 2,
		[]program{once(try, hold(20*time.Millisecond), unlock), once(sleep(70*time.Millisecond), try)}, nil, short)
	careless.Scenario.Timeline = append(careless.Scenario.Timeline, scenarios.Item{When: faults.Trigger{At: careless.Begin}, Kind: "partition",
		Fault: &faults.Partition{Links: faults.Links{Clients: []string{"client-1"}, Nodes: []string{"B"}}}})
	return map[string]setup{
		"what the verdict rests on": careless,
		"one node":                  newSetup(base(""), 1, two, nil, short),
		"two nodes":                 newSetup(base(""), 2, []program{once(try)}, nil, short),
		"late":                      late(newSetup(base(""), 1, []program{once(try)}, nil, short)),
		"late, a single instance":   late(newSetup(base(single), 1, []program{once(try), once(try)}, nil, short)),
		"late, and a kill":          late(newSetup(base(single), 1, []program{once(try)}, kill, short)),
		"late, and a crash":         late(newSetup(base(""), 1, []program{once(try)}, crash, short)),
		"late, two nodes":           late(newSetup(base(""), 2, []program{once(try)}, nil, short)),
		"late, and an unlock":       late(newSetup(base(single), 1, []program{once(try, unlock)}, nil, short)),
		"as late as can be":         without(newSetup(base(single), 1, []program{once(try), once(sleep(30*time.Millisecond), try)}, nil, short)),
		"as late as can be, a kill": without(newSetup(base(single), 1, []program{once(try, hold(20*time.Millisecond))}, kill, short)),
		"unlock":                    newSetup(base(single), 1, []program{once(try, unlock), once(try)}, nil, short),
		"get, then set":             newSetup(base(getSet), 1, two, nil, short),
		"kill":                      newSetup(base(single), 1, two, kill, short),
		"clock step":                newSetup(base(single), 1, two, step, short),
		"crash":                     newSetup(base(""), 1, two, crash, short),
		"pause":                     newSetup(base(single), 1, two, pause, short),
		"a paused node":             newSetup(base(single), 1, two, stall, short),
		"partition":                 newSetup(base(single), 1, two, cut, short),
		"holds that end by a timer": newSetup(base(single), 1, []program{once(try, hold(20*time.Millisecond), unlock), once(sleep(20*time.Millisecond), try)}, nil, short),
	}
}

// TestReductionLosesNothing compares what the reduced exploration sees with what there is.
func TestReductionLosesNothing(t *testing.T) {
	for name, s := range tiny() {
		t.Run(name, func(t *testing.T) {
			if name == "late, two nodes" {
				longest.Only(t, "brute force takes a quarter of a minute")
			}
			reduced, r := outcomes(t, s)
			s.brute = true
			all, b := outcomes(t, s)
			if !maps.Equal(reduced, all) {
				t.Errorf("%d ends with the reduction, %d without", len(reduced), len(all))
			}
			if r.Runs > b.Runs || len(all) < 2 {
				t.Errorf("%d runs with the reduction, %d without, %d ends", r.Runs, b.Runs, len(all))
			}
			t.Logf("%d runs and %d cut instead of %d runs, %d ends", r.Runs, r.Cut, b.Runs, len(all))
		})
	}
}

// TestDependenciesMatter leaves out one kind of dependency after the other: each time something must be missed in some world.
func TestDependenciesMatter(t *testing.T) {
	request := func(o kernel.Option) bool { return o.Kind == network.StepRequest }
	for name, independent := range map[string]func(a, b kernel.Option) bool{
		"requests at a node": func(a, b kernel.Option) bool { return request(a) && request(b) },
		"steps of a client":  func(a, b kernel.Option) bool { return !request(a) && a.Process != "" && a.Process == b.Process },
		"time":               func(a, b kernel.Option) bool { return a.Kind == kernel.StepTime || b.Kind == kernel.StepTime },
		"faults":             func(a, b kernel.Option) bool { return a.Kind == kernel.StepTimeline || b.Kind == kernel.StepTimeline },
	} {
		t.Run(name, func(t *testing.T) {
			worlds := tiny()
			for _, world := range slices.Sorted(maps.Keys(worlds)) {
				s := worlds[world]
				right, _ := outcomes(t, s)
				s.independent = independent
				if wrong, _ := outcomes(t, s); len(wrong) < len(right) {
					t.Logf("%d of %d ends are seen of %s", len(wrong), len(right), world)
					return
				}
			}
			t.Error("nothing was missed")
		})
	}
}

// TestWorlds finds planted bugs, and faults that the budget allows though the lock does not bear them, in the worlds that
// are made for any lock, and nothing in those of a lock that is right.
func TestWorlds(t *testing.T) {
	for name, test := range map[string]struct {
		base *scenarios.Scenario
		want bool
	}{
		"redlock":                {base(""), false},
		"a single instance":      {base(single), false},
		"get, then set":          {base(getSet), true},
		"clean-up by DEL":        {base("protocol: redlock-plain, cleanup: del"), true},
		"release by GET and DEL": {base("protocol: single, release: get-del"), true},
		"a quorum of one":        {base("protocol: redlock-plain, quorum: 1"), true},
		"a node that may forget": {forgetful(), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds := Worlds(test.base)
			if err := Search(t.Context(), worlds, 3, 400, 0); err != nil {
				t.Fatal(err)
			}
			var violated []string
			for _, w := range worlds {
				if r := w.Last(); r.Violations > 0 {
					violated = append(violated, w.Name+", "+w.Fault)
				}
			}
			if (violated != nil) != test.want {
				t.Errorf("violated: %v", violated)
			}
			t.Log(violated)
		})
	}
}

// TestNotTested: a fault that has nothing to take effect on is injected in no order, and where nobody can be granted the
// lock no order says anything.
func TestNotTested(t *testing.T) {
	two := []program{once(try), once(try)}
	few := "protocol: redlock-plain, quorum: 3" // of one node
	kill := &scenarios.Item{Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: "A"}}}
	for name, c := range map[string]struct {
		lock              string
		fault             *scenarios.Item
		injected, granted bool
	}{
		"injected":           {single, kill, true, true},
		"nothing to restart": {single, &scenarios.Item{Kind: "restart", Fault: &faults.Restart{Node: "A"}}, false, true},
		"no fault":           {single, nil, false, true},
		"no quorum":          {few, kill, true, false},
	} {
		s := newSetup(base(c.lock), 1, two, c.fault, 80*time.Millisecond)
		s.Executions = 200
		r, err := explore(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Injected > 0 != c.injected || r.NotTested < r.Runs != c.granted || r.Runs == 0 {
			t.Errorf("%s: %d runs, injected in %d, %d not tested", name, r.Runs, r.Injected, r.NotTested)
		}
	}
}

func forgetful() *scenarios.Scenario {
	s := base(single)
	s.Budget.MemoryLoss = 1
	return s
}

func TestJobs(t *testing.T) {
	var counts [2][]Result
	for i, jobs := range []int{1, 4} {
		worlds := Worlds(base(getSet))
		if err := Search(t.Context(), worlds, 1, 100, jobs); err != nil {
			t.Fatal(err)
		}
		for _, w := range worlds {
			r := *w.Last()
			if r.First != nil {
				r.First = &Run{fingerprint: r.First.fingerprint, Steps: r.First.Steps}
			}
			counts[i] = append(counts[i], r)
		}
	}
	if !reflect.DeepEqual(counts[0], counts[1]) {
		t.Errorf("%+v\n%+v", counts[0], counts[1])
	}
}

// TestReached: what the worlds reached is what their runs did, each fault in the worlds in which it can be injected.
func TestReached(t *testing.T) {
	worlds := Worlds(base(getSet))
	if err := Search(t.Context(), worlds, 1, 100, 0); err != nil {
		t.Fatal(err)
	}
	all, killing := 0, 0
	for _, w := range worlds {
		for _, r := range w.Levels {
			all += r.Runs
			if w.Fault == "kill" {
				killing += r.Runs
			}
			if got := r.Tally.Reached.Reached(reach.Fault, "kill"); w.Fault != "kill" && got > 0 {
				t.Errorf("%s, %s: a node was killed in %d runs", w.Name, w.Fault, got)
			}
		}
	}
	sum := Reached(worlds)
	rows := sum.Reached.Rows()
	kill := rows[reach.Place(reach.Fault, "kill")]
	if sum.Reached.Runs != all || kill.Placed != killing || kill.Runs == 0 || kill.Runs > killing || !sum.NoEffects {
		t.Errorf("%d runs, want %d; a kill is placed in %d and injected in %d, of %d", sum.Reached.Runs, all, kill.Placed, kill.Runs, killing)
	}
	if sum.Reached.Reached(reach.Step, "extended") > 0 {
		t.Error("nobody extends")
	}
}

// TestLimits: an exploration that was cut says so.
func TestLimits(t *testing.T) {
	s := Worlds(base(""))[0].setup
	s.Executions = 10
	if r, err := explore(t.Context(), s); err != nil || r.Complete || r.Runs+r.Cut != 10 {
		t.Errorf("%v, %+v", err, r)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := explore(ended, s); err != nil || r.Complete || r.Runs != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// inOrder takes what is there first.
type inOrder struct{}

func (inOrder) Choose(s kernel.Situation) int { return min(len(s.Options), 1) - 1 }

// TestOrdinary: a run in which every message arrives as soon as those before it is an ordinary one without latency.
func TestOrdinary(t *testing.T) {
	s := base("")
	s.Clients, s.Network.Latency.Latency = []string{"client-1"}, network.Latency{}
	s.Timeline = []scenarios.Item{{Client: "client-1", Do: []scenarios.Step{try, hold(time.Second), unlock, sleep(time.Second)}, Repeat: 5}}
	ordinary, err := scenarios.Run(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := scenarios.Run(s, scenarios.Options{Scheduler: inOrder{}})
	if err != nil {
		t.Fatal(err)
	}
	if len(chosen.History) < 50 || chosen.HistoryHash != ordinary.HistoryHash || chosen.TraceHash != ordinary.TraceHash {
		t.Errorf("%d events: %s", len(chosen.History), verdict.FirstDifference(ordinary.History, chosen.History))
	}
}

// TestAGuardIsPrepared: nodes with a restart guard vote in small worlds too.
func TestAGuardIsPrepared(t *testing.T) {
	s := newSetup(base("guard: {max-ttl: 10s}"), 3, []program{once(try)}, nil, time.Second)
	granted := false
	s.Executions = 5
	s.Each = func(r *Run) {
		granted = granted || slices.ContainsFunc(r.History, func(e history.Event) bool {
			return kernel.True(e.Time) >= kernel.True(s.Begin) && faults.EventName(&e) == "acquire-done"
		})
	}
	if _, err := explore(t.Context(), s); err != nil || !granted {
		t.Errorf("%v, granted is %v", err, granted)
	}
}

// TestReentrant: a client that is granted a lock again that it has shares it with nobody.
func TestReentrant(t *testing.T) {
	s := newSetup(base("protocol: redisson"), 1, []program{{[]scenarios.Step{try, hold(20 * time.Millisecond)}, 2}}, nil, time.Second)
	again := false
	s.Each = func(r *Run) {
		n := 0
		for i := range r.History {
			if faults.EventName(&r.History[i]) == "acquire-done" {
				n++
			}
		}
		again = again || n == 3
	}
	if r, err := explore(t.Context(), s); err != nil || !again || r.Violations != 0 {
		t.Errorf("%v, granted again is %v, %+v", err, again, r)
	}
}

// TestLivenessIsCountedApart: a key that keeps others out is found, and is not taken for a lock that two have.
func TestLivenessIsCountedApart(t *testing.T) {
	for name, test := range map[string]struct {
		base     *scenarios.Scenario
		liveness bool
	}{
		"no clean-up":     {base("protocol: redlock-plain, cleanup: none"), true},
		"a quorum of one": {base("protocol: redlock-plain, quorum: 1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds := Worlds(test.base)[:1]
			if err := Search(t.Context(), worlds, 0, 300, 0); err != nil {
				t.Fatal(err)
			}
			r := worlds[0].Last()
			if only := r.Liveness == r.Violations; r.Violations == 0 || only != test.liveness {
				t.Errorf("%d violations, %d of them of liveness", r.Violations, r.Liveness)
			}
		})
	}
}
