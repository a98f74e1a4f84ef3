package scenarios_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/experiment"
)

func init() { scenarios.Drawn = experiment.Arbitrary }

// seeds is how many seeds a test goes through.
func seeds(full, short int) uint64 {
	if testing.Short() {
		return uint64(short)
	}
	return uint64(full)
}

var (
	catalogueSeeds = flag.Int("seeds", 4, "how many seeds each scenario of the catalogue is run with")
	wireSeeds      = flag.Int("wire-seeds", 1, "how many of the -seeds are run on tier wire as well, which takes ten times as long")
)

// TestCatalogueIsAsExpectedOnAllTiers judges every scenario with some seeds, the first of them on all tiers, which must agree.
// That each run repeats itself is for TestRandomExperimentsRepeatThemselves and for the suite.
func TestCatalogueIsAsExpectedOnAllTiers(t *testing.T) {
	all := scenarios.Catalogue()
	count := seeds(*catalogueSeeds, 1)
	each(len(all), func(i int) {
		for seed := range count {
			judgeOnAllTiers(t, all[i], seed)
		}
	})
}

// each calls f for 0 to n−1, at the same time on all processors.
func each(n int, f func(i int)) {
	var workers sync.WaitGroup
	work := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range work {
				f(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	workers.Wait()
}

func judgeOnAllTiers(t *testing.T, s *scenarios.Scenario, seed uint64) {
	var first *verdict.Result
	for _, tier := range scenarios.Tiers() {
		if tier == scenarios.Wire && seed >= uint64(*wireSeeds) {
			continue
		}
		r, err := verdict.Judge(s, scenarios.Options{Tier: tier, Seed: seed})
		if err != nil {
			t.Error(err)
			return
		}
		for _, p := range r.Problems {
			t.Errorf("%s, tier %s, seed %d: %s", s.Name, tier, seed, p.Text)
		}
		if first == nil {
			first = r
		} else if r.HistoryHash != first.HistoryHash {
			t.Errorf("%s, seed %d: %s and %s differ: %s", s.Name, seed, first.Tier, tier, verdict.FirstDifference(first.History, r.History))
		}
	}
}

// hashes runs a random experiment and gives its hashes.
func hashes(seed uint64) (string, error) {
	out, err := scenarios.Run(experiment.Arbitrary(seed), scenarios.Options{Seed: seed})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d %s %s", seed, len(out.History), out.HistoryHash, out.TraceHash), nil
}

const printSeeds = "REDLOCKSIM_TEST_PRINT_SEEDS"

func TestMain(m *testing.M) {
	if n := os.Getenv(printSeeds); n != "" {
		var count uint64
		if _, err := fmt.Sscan(n, &count); err != nil {
			panic(err)
		}
		for seed := range count {
			line, err := hashes(seed)
			if err != nil {
				panic(err)
			}
			fmt.Println(line)
		}
		return
	}
	os.Exit(m.Run())
}

// Twice in this process, at the same time as others, and once in another one.
func TestRandomExperimentsRepeatThemselves(t *testing.T) {
	count := seeds(*scenarios.Random, 50)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), fmt.Sprintf("%s=%d", printSeeds, count))
	other.Stderr = os.Stderr
	var text bytes.Buffer
	other.Stdout = &text
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	var here [2][]string
	each(2, func(i int) {
		for seed := range count {
			line, err := hashes(seed)
			if err != nil {
				t.Error(err)
			}
			here[i] = append(here[i], line)
		}
	})
	if err := other.Wait(); err != nil {
		t.Fatalf("the other process: %v", err)
	}
	elsewhere := strings.Split(string(bytes.TrimSpace(text.Bytes())), "\n")
	if uint64(len(elsewhere)) != count {
		t.Fatalf("the other process ran %d seeds, want %d", len(elsewhere), count)
	}
	for seed := range count {
		if first, second := here[0][seed], here[1][seed]; first != second || first != elsewhere[seed] {
			t.Errorf("seed %d: %q and %q; in another process %q", seed, first, second, elsewhere[seed])
		}
	}
}

func TestTiersAgreeOnRandomExperiments(t *testing.T) {
	each(int(seeds(*scenarios.Random/3, 10)), func(seed int) {
		var results [2]*scenarios.Outcome
		for i, tier := range scenarios.Tiers() {
			out, err := scenarios.Run(experiment.Arbitrary(uint64(seed)), scenarios.Options{Tier: tier, Seed: uint64(seed)})
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = out
		}
		if a, b := results[0], results[1]; a.HistoryHash != b.HistoryHash {
			t.Errorf("seed %d: %s", seed, verdict.FirstDifference(a.History, b.History))
		}
	})
}

func TestCheckersAgreeOnRandomExperiments(t *testing.T) {
	count := seeds(2**scenarios.Random, 200) // of fewer perhaps none breaks a lock
	violations, untested := 0, 0
	for seed := range count {
		s := experiment.Arbitrary(seed)
		out := scenariotest.Ran(t, s, scenarios.Options{Seed: seed})
		report, err := checker.Check(out.History, checker.Options{End: checker.Instant(s.Duration)})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, f := range report.Findings {
			switch {
			case f.Kind.Violation():
				violations++
			case f.Kind == checker.NotTested:
				untested++
			}
		}
	}
	// Random faults go beyond every budget: where nothing is ever found the experiments or the checkers are blind. So they are
	// where many runs show nothing: faults and settings that are drawn without regard to one another may leave nobody a quorum,
	// and a client may stop before another one asks.
	if violations == 0 || untested > int(count)/5 {
		t.Errorf("%d experiments: %d violations, and %d show nothing", count, violations, untested)
	}
}

// Scenarios come in the order of their numbers, and those without one come last.
func TestCatalogueIsInOrder(t *testing.T) {
	var places []int
	for _, name := range []string{"09-contention", "99-code-takes-time/extend", "100-late-commands", "boundaries/clock-step-holds"} {
		places = append(places, slices.IndexFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name }))
	}
	if places[0] < 0 || !slices.IsSorted(places) {
		t.Errorf("they are at %v", places)
	}
}

// An explanation stands by itself: who has one page before them has read no other.
func TestExplanationsStandByThemselves(t *testing.T) {
	for _, s := range scenarios.Catalogue() {
		if strings.Contains(strings.ToLower(s.Explanation), "as in scenario") {
			t.Errorf("%s: %q", s.Name, s.Explanation)
		}
	}
}
