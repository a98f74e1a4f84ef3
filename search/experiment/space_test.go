package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
)

// Whatever the lock is, every experiment that is drawn about it is a scenario that a file can say.
func TestDrawForEveryLock(t *testing.T) {
	protocols := map[string]bool{}
	for _, s := range scenarios.Catalogue() {
		space := NewSpace(s.Settings())
		space.Beyond = true
		for seed := range uint64(4) {
			x := Candidate{Seed: seed}.Scenario(space)
			data, err := x.Encode()
			if err == nil {
				_, err = scenarios.Parse("x.yaml", data)
			}
			if err != nil {
				t.Errorf("%s, seed %d: %v", s.Name, seed, err)
			}
		}
		protocols[string(s.Lock.Protocol)] = true
	}
	if len(protocols) < 10 {
		t.Errorf("only of %v", protocols)
	}
}

// Nodes with a restart guard are prepared.
func TestAGuardIsPrepared(t *testing.T) {
	base, err := scenarios.ParseSettings("guard.yaml", []byte("lock: {ttl: 10s, guard: {max-ttl: 60s}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	space := NewSpace(base)
	calm := 0
	for seed := range uint64(40) {
		x := Candidate{Seed: seed}.Scenario(space)
		x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool { return i.Fault != nil })
		r := scenariotest.Judged(t, x, scenarios.Options{Seed: seed})
		if r.Report.Grants > 0 {
			calm++
		}
	}
	if calm != 40 {
		t.Errorf("somebody is granted the lock in %d of 40 runs without a fault", calm)
	}
}

// Within the assumptions nothing is drawn that exceeds them, but for delays and pauses that add up.
func TestDrawKeepsToTheBudget(t *testing.T) {
	n := 300
	over := 0
	for i := range n {
		c := Candidate{Seed: uint64(i)}
		space := NewSpace(DefaultBase())
		space.Strays = false
		x := c.Scenario(space)
		out, err := scenarios.Run(x, scenarios.Options{Seed: c.Seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range x.Budget.Beyond(out.Used) {
			over++
			if !strings.Contains(text, "delay") && !strings.Contains(text, "pause") {
				t.Errorf("seed %d: %s", i, text)
			}
		}
	}
	if over > n/12 {
		t.Errorf("%d of %d exceed the budget", over, n)
	}
}

// One candidate of eight strays beyond the budget: its faults are drawn so.
func TestCandidatesStray(t *testing.T) {
	const n = 800
	strays := 0
	for i := range n {
		if NewSpace(DefaultBase()).of(uint64(i)).Beyond {
			strays++
		}
	}
	if strays < n/11 || strays > n/6 {
		t.Errorf("%d of %d stray", strays, n)
	}
}

// Calls for several resources come at one instant, so that commands wait for one another and go together.
func TestCallsRush(t *testing.T) {
	base, err := scenarios.ParseSettings("batches.yaml", []byte("lock: {ttl: 10s, batching: 1}\nresources: [R, S, T]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpace(base)
	runs, batches := 0, 0
	for seed := range uint64(60) {
		x := Candidate{Seed: seed}.Scenario(s)
		at := map[string][]string{} // the resources for which a client asks at an instant
		for _, item := range x.Timeline {
			if len(item.Resource) == 1 && item.Do[0].Kind == scenarios.TryLockStep {
				k := fmt.Sprint(item.Client, item.When.At)
				at[k] = append(at[k], item.Resource[0])
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(at)), func(names []string) bool { slices.Sort(names); return len(slices.Compact(names)) == 3 }) {
			continue
		}
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		runs++
		if out.Counts.Batches > 0 {
			batches++
		}
	}
	if runs < 12 || batches < runs*2/3 {
		t.Errorf("in %d of 60 runs calls rush, and commands go together in %d of them", runs, batches)
	}
}

// Every family of faults is drawn, and every experiment can be written down.
func TestDrawIsAboutEverything(t *testing.T) {
	s := NewSpace(DefaultBase())
	s.Beyond = true
	s.Base.Nodes.Replicas = append(s.Base.Nodes.Replicas, replicasOf("A", "A2"))
	// Batches can be split, and counters and the records of the guard set.
	protocols.Change(&s.Base.Lock, func(own *protocols.RedlockSettings) {
		own.Batching, own.Fencing, own.Guard = 1, true, &protocols.Guard{MaxTTL: s.Base.Lock.TTL}
	})
	seen := map[string]bool{}
	for i := range 400 {
		x := Candidate{Seed: uint64(i)}.Scenario(s)
		for _, item := range x.Timeline {
			seen[item.Kind] = true
		}
		x.Title, x.Source, x.Explanation = "x", "x", "x"
		data, err := x.Encode()
		if err == nil {
			_, err = scenarios.Parse("x.yaml", data)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", i, err, data)
		}
	}
	for _, w := range faults.Vocabulary() {
		if !seen[w.Name] {
			t.Errorf("%s was never drawn", w.Name)
		}
	}
}

// What a lock can do only at certain moments is drawn: a client is closed while it prepares the nodes, two calls work under one
// lease, and renewals may keep it for exactly as long as the first of them does.
func TestRareCallsAreDrawn(t *testing.T) {
	base, err := scenarios.ParseSettings("guard.yaml", []byte("lock: {ttl: 10s, guard: {max-ttl: 60s}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpace(base)
	closed, together, exact, crowds, unlocks := 0, 0, 0, 0, 0
	panics := map[scenarios.StepKind]int{}
	for seed := range uint64(400) {
		x := Candidate{Seed: seed}.Scenario(s)
		for i, item := range x.Timeline {
			if i > 0 && item.Fault == nil && item.Do[0].Kind == scenarios.CloseStep && x.Timeline[i-1].Fault == nil && x.Timeline[i-1].Do[0].Kind == scenarios.PrepareStep {
				closed++
			}
			if item.Repeat == crowding && item.Goroutines == 2 {
				crowds++
			}
			for _, do := range item.Do {
				if do.Meanwhile > 0 {
					together++
				}
				if do.Unlocks {
					unlocks++
				}
				if do.Panics {
					panics[do.Kind]++
				}
				if ttl := cmp.Or(do.TTL, base.Lock.TTL); do.Period == 0 && do.MaxTime == ttl+ttl/3 {
					exact++
				}
			}
		}
	}
	if closed < 20 || together < 5 || exact < 5 || crowds < 5 || unlocks < 5 || panics[scenarios.RenewStep] < 5 || panics[scenarios.WithLockStep] < 5 {
		t.Errorf("in 400 runs: %d clients closed while they prepare, %d calls under the lease of another, %d limits that a renewal just meets, %d clients that take the lock from themselves, %d works that release their lock, works that panic: %v", closed, together, exact, crowds, unlocks, panics)
	}
}
