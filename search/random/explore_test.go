package random

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/build"
	"redlocksim/internal/jobs/jobstest"
	"redlocksim/internal/longest"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// small is a search that takes a second.
func small(dir string) Options {
	return Options{Seed: 3, Runs: 8, Generation: 2, Dir: dir, shrinkRuns: 10}
}

// files are the files in a directory with what is in them, without the lock.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if e.Name() == ".lock" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(data)
	}
	return found
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: there is a file %s", what, name)
		}
	}
}

func beyond() experiment.Space {
	s := experiment.NewSpace(experiment.DefaultBase())
	s.Beyond = true
	return s
}

// What is found depends neither on the number of workers nor on interruptions, and each finding is an ordinary scenario file.
// Nothing else is left in the directory, whatever its name means to a shell.
func TestExplore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	sum, err := Explore(t.Context(), beyond(), small(dir))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Runs != 8 || len(sum.Findings) == 0 || sum.Violations == 0 || sum.Canaries != 4 || sum.Repeated != 1 {
		t.Fatalf("%+v", sum)
	}
	want := files(t, dir)
	for name := range want {
		if !search.Writes(name) {
			t.Errorf("a search writes %s, and Writes does not say so", name)
		}
	}
	if len(want) != 1+len(sum.Findings) {
		t.Errorf("%d files for %d findings", len(want), len(sum.Findings))
	}
	t.Run("findings are scenario files", func(t *testing.T) { areScenarios(t, dir, sum.Findings) })
	t.Run("on other machines", func(t *testing.T) {
		o := small(t.TempDir())
		there := jobstest.NewThere(Jobs(nil)...)
		o.Elsewhere = there
		if _, err := Explore(t.Context(), beyond(), o); err != nil {
			t.Fatal(err)
		}
		if there.Done < sum.Runs {
			t.Errorf("%d jobs for %d runs", there.Done, sum.Runs)
		}
		same(t, "on other machines", want, files(t, o.Dir))
	})
	t.Run("interrupted, with one worker and more", func(t *testing.T) {
		o := small(t.TempDir())
		o.Resume = true
		// Ends in the middle of a generation, of shrinking, or of writing, with one worker and with several.
		interrupted := 0
		for looks := int64(5); ; looks *= 2 {
			o.Jobs = interrupted % 2
			ctx := &patient{Context: t.Context()}
			ctx.endAfter(looks)
			if _, err := Explore(ctx, beyond(), o); err != nil {
				t.Fatal(err)
			}
			if ctx.looks.Load() >= 0 {
				break
			}
			interrupted++
		}
		if interrupted < 4 {
			t.Errorf("interrupted %d times", interrupted)
		}
		same(t, "interrupted", want, files(t, o.Dir))
	})
	t.Run("with a wrong state", func(t *testing.T) { refusesWrongStates(t, dir, want, sum.Findings[0].File) })
}

// refusesWrongStates checks that the state of a search names no files but its own, and that they are all there.
func refusesWrongStates(t *testing.T, dir string, want map[string]string, file string) {
	state := filepath.Join(dir, search.CheckpointFile)
	for wrong, change := range map[string]func(map[string]any){
		"":                               func(map[string]any) {},
		`its file is "../../x"`:          set("../../x", "findings", "file"),
		`no violation of kind "../../x"`: set("../../x", "findings", "kind"),
		`failure 1: its file is "../../x"`: func(all map[string]any) {
			all["failed"], all["failures"] = 1, []any{map[string]any{"file": "../../x"}}
		},
		"3 failures, and 0 of them kept": set(3, "failed"),
		file:                             func(map[string]any) { _ = os.Remove(filepath.Join(dir, file)) },
	} {
		var all map[string]any
		if err := json.Unmarshal([]byte(want[search.CheckpointFile]), &all); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil { // the last was before
			_ = os.WriteFile(filepath.Join(dir, file), []byte(want[file]), 0o666)
		}
		change(all["summary"].(map[string]any))
		changed, err := json.Marshal(all)
		if err == nil {
			err = os.WriteFile(state, changed, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := small(dir)
		o.Resume, o.Rules.Force = true, true
		_, err = Explore(t.Context(), beyond(), o)
		if (err == nil) != (wrong == "") || err != nil && (!errors.Is(err, search.ErrDir) || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%v, want %q", err, wrong)
		}
	}
}

// areScenarios checks that the files of findings show them on every tier.
func areScenarios(t *testing.T, dir string, findings search.Findings) {
	for _, f := range findings {
		found, err := scenarios.Load(filepath.Join(dir, f.File))
		if err != nil {
			t.Fatal(err)
		}
		for _, tier := range scenarios.Tiers() {
			r, err := verdict.Verify(found[0], scenarios.Options{Tier: tier, Seed: f.Seed})
			if err != nil {
				t.Fatal(err)
			}
			if !r.OK() || !slices.Contains(r.Findings, f.Kind) || r.Excused(f.Kind) != f.Beyond {
				t.Errorf("%s on %s: %v, beyond %v, problems %v", f.File, tier, r.Findings, r.Beyond, r.Problems)
			}
		}
	}
}

// Results depend on the build: what another one began is not gone on with.
func TestASearchBelongsToOneBuild(t *testing.T) {
	space, dir := experiment.NewSpace(experiment.DefaultBase()), filepath.Join(t.TempDir(), "found")
	if _, err := Explore(t.Context(), space, Options{Runs: 2, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, search.CheckpointFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, err := build.Name()
	if err != nil || !bytes.Contains(data, []byte(name)) {
		t.Fatalf("the state does not name the build %s (%v)", name, err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(name), []byte("another")), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Explore(t.Context(), space, Options{Runs: 2, Dir: dir, Resume: true})
	if !errors.Is(err, search.ErrDir) || !strings.Contains(fmt.Sprint(err), "build of redlocksim ") {
		t.Errorf("%v", err)
	}
}

// A search that would not see a broken lock must not say that it found none.
func TestABlindSearchSaysSo(t *testing.T) {
	o := small("")
	o.canary = experiment.DefaultBase() // not broken at all
	sum, err := Explore(context.Background(), experiment.NewSpace(experiment.DefaultBase()), o)
	if !errors.Is(err, errBlind) || sum.Runs != 0 {
		t.Errorf("%v after %d runs", err, sum.Runs)
	}
}

// newLibrary makes the library's lock as somebody else's.
func newLibrary(env protocols.Env) (protocols.Locker, error) {
	library, _ := protocols.Find("redlock")
	return library.New(env)
}

// A search of somebody's sound lock is not blind: the broken lock is run in its place.
func TestTheBrokenLockIsNotSomebodys(t *testing.T) {
	space := experiment.NewSpace(experiment.DefaultBase())
	space.Own, space.Foreign = true, &scenarios.Foreign{Name: "the library", New: newLibrary}
	o := small("")
	o.Runs, o.Generation = 10, 10
	sum, err := Explore(context.Background(), space, o)
	if err != nil || sum.Canaries != 1 || sum.Violations != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
}

func TestADirectoryBelongsToOneSearch(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	o := small(dir)
	o.Runs = 4
	space := experiment.NewSpace(experiment.DefaultBase())
	if _, err := Explore(ctx, space, o); err != nil {
		t.Fatal(err)
	}
	if _, err := Explore(ctx, space, o); !errors.Is(err, search.ErrDir) || !strings.Contains(err.Error(), "resume it") {
		t.Errorf("a second time: %v", err)
	}
	other := space
	other.Own = true
	for _, build := range []string{"1", "2"} {
		other.Foreign = &scenarios.Foreign{Name: "mine", Build: build, New: newLibrary}
		in := o
		in.Dir, in.Resume = dir+"-mine", true
		_, err := Explore(ctx, other, in)
		if again := errors.Is(err, search.ErrDir) && strings.Contains(err.Error(), "build of the lock 1, not 2"); again != (build == "2") {
			t.Errorf("with build %s: %v", build, err)
		}
	}
	o.Resume, o.Seed = true, 2
	if _, err := Explore(ctx, space, o); !errors.Is(err, search.ErrDir) || !strings.Contains(err.Error(), "seed 3, not 2") {
		t.Errorf("with another seed: %v", err)
	}
	broken := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, search.CheckpointFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	broken("{\n \"generator\": \"redlocksim\",\n \"search\": {")
	if _, err := Explore(ctx, space, o); !errors.Is(err, search.ErrDir) {
		t.Errorf("with a broken state: %v", err)
	}
	// What is no state of a search at all is somebody else's. With force it gives way, but cannot be resumed.
	broken(`{"search": "for the truth"}`)
	if _, err := Explore(ctx, space, o); !errors.As(err, new(*outfile.Refusal)) {
		t.Errorf("over somebody else's file: %v", err)
	}
	o.Rules.Force = true
	if _, err := Explore(ctx, space, o); !errors.Is(err, search.ErrDir) {
		t.Errorf("resumed from somebody else's file: %v", err)
	}
	o.Resume = false
	if s, err := Explore(ctx, space, o); err != nil || s.Runs == 0 {
		t.Errorf("with force: %v", err)
	}
}

// The counterexamples of the literature are found again by chance, each shrunk to at most three faults. Clients have a wall
// clock, for which one of them is. Three nodes are enough for all, and leave less to chance than five.
func TestExploreFindsTheLiterature(t *testing.T) {
	longest.Only(t, "makes thousands of runs")
	overlap := func(families ...string) func(search.Finding) bool {
		return func(f search.Finding) bool {
			return f.Kind == checker.LeaseOverlap && len(f.Families) == 1 && slices.Contains(families, f.Families[0])
		}
	}
	space := beyond()
	space.Base.Lock.Clock, space.Base.Nodes.Names = kernel.WallClock, space.Base.Nodes.Names[:3]
	findAll(t, space, map[string]func(search.Finding) bool{
		"clock jump of a node":   overlap("clock-step-of-node"),
		"clock jump of a client": overlap("clock-step-of-client"),
		"amnesia":                overlap("kill", "power-loss", "shutdown"),
		"long pause": func(f search.Finding) bool {
			return f.Kind == checker.StaleWrite && slices.Equal(f.Families, []string{"pause-of-client"})
		},
	})
}

// findAll searches until each counterexample is found, with at most three faults: by one seed or another, as what one finds is
// a matter of luck and changes with everything that is drawn.
func findAll(t *testing.T, space experiment.Space, wanted map[string]func(search.Finding) bool) {
	has := func(sum *Summary, is func(search.Finding) bool) bool {
		return slices.ContainsFunc(sum.Findings, func(f search.Finding) bool { return f.Faults <= 3 && is(f) })
	}
	hasAll := func(sum *Summary) bool {
		for _, is := range wanted {
			if !has(sum, is) {
				return false
			}
		}
		return true
	}
	const seeds = 10
	for seed := range uint64(seeds) {
		ctx, cancel := context.WithCancel(t.Context())
		sum, err := Explore(ctx, space, Options{Seed: seed + 1, Runs: 1500, Generation: 100, shrinkRuns: 150, Progress: func(sum *Summary) {
			if hasAll(sum) {
				cancel()
			}
		}})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		for name, is := range wanted {
			if has(sum, is) {
				t.Logf("%s is found with seed %d, in %d runs", name, seed+1, sum.Runs)
				delete(wanted, name)
			}
		}
		if len(wanted) == 0 {
			return
		}
	}
	t.Errorf("not found with %d seeds: %v", seeds, slices.Sorted(maps.Keys(wanted)))
}

// With settings of a file the worst schedules that the budget allows come before what is drawn, on any number of machines.
func TestWorstFirst(t *testing.T) {
	base := *experiment.DefaultBase()
	early := time.Second
	base.Lock.TTL, base.Budget.RestartDelay = 2*time.Second, &early
	space := experiment.NewSpace(&base)
	space.WorstFirst = true
	worst := len(space.Worst())
	o := small(t.TempDir())
	sum, err := Explore(t.Context(), space, o)
	if err != nil {
		t.Fatal(err)
	}
	if worst == 0 || sum.Worst != worst || sum.Runs != worst+o.Runs {
		t.Errorf("%d of %d runs are worst schedules, want %d of %d", sum.Worst, sum.Runs, worst, worst+o.Runs)
	}
	if len(sum.Findings) == 0 || sum.Findings[0].Run >= worst || sum.Findings[0].Kind != checker.LeaseOverlap {
		t.Errorf("found %+v", sum.Findings)
	}
	there := small(t.TempDir())
	there.Elsewhere = jobstest.NewThere(Jobs(nil)...)
	if _, err := Explore(t.Context(), space, there); err != nil {
		t.Fatal(err)
	}
	same(t, "on other machines", files(t, o.Dir), files(t, there.Dir))
	t.Run("what is not shrunk yet", func(t *testing.T) {
		o := small(t.TempDir())
		o.Jobs = 1
		ctx := &patient{Context: t.Context()}
		ctx.endAfter(int64(worst))
		if _, err := Explore(ctx, space, o); err != nil {
			t.Fatal(err)
		}
		raw := rawFiles(t, o.Dir)
		for _, file := range raw {
			read, err := scenarios.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			s := read[0]
			if r := scenariotest.Judged(t, s, scenarios.Options{Seed: s.Recorded.Seed}); history.Hash(r.History) != s.Recorded.History {
				t.Errorf("%s is another run than the one that was found", file)
			}
		}
		if len(raw) == 0 {
			t.Error("nothing is found before the end")
		}
	})
}
