package shrink

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

// noisy buries a scenario of the catalogue: three further clients that ask all the time, thirty passes through what
// clients do, and faults drawn like those of random experiments, twenty in all. It is the first such noise in which the
// finding is still there.
func noisy(t *testing.T, name string, broken search.Question) *scenarios.Scenario {
	t.Helper()
	all := scenarios.Catalogue()
	at := slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == name })
	for noise := range uint64(2000) {
		rng := rand.New(rand.NewPCG(17, noise))
		s := *all[at]
		s.Name = "noisy"
		s.Timeline = slices.Clone(s.Timeline)
		s.Clients = slices.Clone(s.Clients)
		s.Duration = 2 * time.Minute
		for i := range s.Timeline {
			if s.Timeline[i].Fault == nil {
				s.Timeline[i].Repeat = 30
			}
		}
		for _, client := range []string{"client-3", "client-4", "client-5"} {
			s.Clients = append(s.Clients, client)
			s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: time.Duration(rng.Int64N(int64(20 * time.Second)))}, Client: client, Repeat: 30,
				Do: []scenarios.Step{{Kind: scenarios.TryLockStep}, {Kind: scenarios.UpdateStep}, {Kind: scenarios.HoldStep, For: 300 * time.Millisecond}, {Kind: scenarios.UnlockStep}, {Kind: scenarios.SleepStep, For: time.Duration(1 + rng.Int64N(int64(5*time.Second)))}}})
		}
		for count(&s) < 20 {
			for _, item := range experiment.Arbitrary(rng.Uint64()).Timeline {
				with := s
				with.Timeline = append(slices.Clone(s.Timeline), item)
				if item.Fault != nil && count(&s) < 20 && valid(&with) {
					s = with
				}
			}
		}
		found, err := broken(&s)
		if err != nil {
			t.Fatal(err)
		}
		if found != nil {
			return &s
		}
	}
	t.Fatal("no noise leaves the finding in place")
	return nil
}

func valid(s *scenarios.Scenario) bool {
	data, err := s.Encode()
	if err != nil {
		return false
	}
	_, err = scenarios.Parse("x.yaml", data)
	return err == nil
}

// count is how many faults there are.
func count(s *scenarios.Scenario) int {
	n := 0
	for _, item := range s.Timeline {
		if item.Fault != nil {
			n++
		}
	}
	return n
}

func text(t *testing.T, s *scenarios.Scenario) string {
	t.Helper()
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// enough is more runs than any of these tests needs.
const enough = 5000

// shows says whether a run of a scenario still has a finding of the kind, and is tested.
func shows(kind checker.Kind, seed uint64) search.Question {
	return func(s *scenarios.Scenario) (history.History, error) {
		r, err := verdict.Judge(s, scenarios.Options{Seed: seed})
		if err != nil || !slices.Contains(r.Findings, kind) {
			return nil, err
		}
		return r.History, nil
	}
}

// planted are findings of the catalogue, each with one cause.
var planted = []struct {
	scenario string
	kind     checker.Kind
	cause    string // the fault without which it is not there
}{
	{"17-clock-jump", checker.LeaseOverlap, "clock-step"},
	{"24-restart-at-once/one-of-three", checker.LeaseOverlap, "kill"},
	{"32-pause-before-write", checker.StaleWrite, "pause"},
	{"20-client-clock-steps-back/wall", checker.LeaseOverlap, "clock-step"},
}

func TestNoiseIsTakenOut(t *testing.T) {
	for _, p := range planted {
		t.Run(p.scenario, func(t *testing.T) {
			const seed = 7
			broken := shows(p.kind, seed)
			big := noisy(t, p.scenario, broken)
			before := text(t, big)
			small, made, err := minimize(context.Background(), big, nil, broken, enough)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d runs\n%s", made, text(t, small))
			if made >= enough {
				t.Errorf("not done after %d runs", made)
			}
			if n := count(small); n > 3 || len(small.Clients) != 2 {
				t.Errorf("%d faults and clients %v are left", n, small.Clients)
			}
			if !slices.ContainsFunc(small.Timeline, func(i scenarios.Item) bool { return i.Kind == p.cause }) {
				t.Errorf("the %s is gone", p.cause)
			}
			for i := range small.Timeline {
				without := *small
				without.Timeline = slices.Delete(slices.Clone(small.Timeline), i, i+1)
				if still, err := broken(&without); err != nil || still != nil {
					t.Errorf("%v, it takes no %dth item", err, i+1)
				}
			}
			if text(t, big) != before {
				t.Error("the scenario it was given has changed")
			}
			again, _, err := minimize(context.Background(), small, nil, broken, enough)
			if err != nil || text(t, again) != text(t, small) {
				t.Errorf("a minimum shrinks, %v, to\n%s", err, text(t, again))
			}
			confirmed(t, small, seed, p.kind)
		})
	}
}

// confirmed writes a counterexample to a file and verifies that on all tiers.
func confirmed(t *testing.T, s *scenarios.Scenario, seed uint64, kind checker.Kind) *scenarios.Scenario {
	t.Helper()
	c, err := counterexample(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "counterexample.yaml")
	if err := os.WriteFile(file, []byte(text(t, c)), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := scenarios.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := verdict.Verify(found[0], scenarios.Options{Tier: tier, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() || !slices.Contains(r.Findings, kind) {
			t.Errorf("tier %s: %v %v in\n%s", tier, r.Findings, r.Problems, text(t, c))
		}
	}
	return c
}

// TestRandomExperimentsShrink: whatever random experiments find becomes a small file that repeats it.
func TestRandomExperimentsShrink(t *testing.T) {
	want := 3
	for seed := uint64(0); want > 0; seed++ {
		s := experiment.Arbitrary(seed)
		r := scenariotest.Judged(t, s, scenarios.Options{Seed: seed})
		w := r.Witness()
		if w == nil {
			continue
		}
		want--
		broken := shows(w.Kind, seed)
		small, made, err := minimize(context.Background(), s, nil, broken, enough)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, w.Text, err)
		}
		if made >= enough {
			t.Errorf("seed %d: %d runs are not enough", seed, made)
		}
		again, _, err := minimize(context.Background(), small, nil, broken, enough)
		if err != nil || text(t, again) != text(t, small) {
			t.Errorf("seed %d: a minimum shrinks, %v, from\n%s\nto\n%s", seed, err, text(t, small), text(t, again))
		}
		if c := confirmed(t, small, seed, w.Kind); count(c) > 3 {
			t.Errorf("seed %d: from %d faults after %d runs\n%s", seed, count(s), made, text(t, c))
		}
	}
}
