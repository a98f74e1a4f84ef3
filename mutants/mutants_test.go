package mutants_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/longest"
	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

const again = "go run ./mutants/verify runs them again and writes it; it can be interrupted"

// committed is the results in the repository.
func committed(t *testing.T) mutants.Results {
	t.Helper()
	r, err := mutants.ReadResults("results.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every mutant was run as it is now and is killed by each scenario that is said to kill it, and TABLE.md says so.
func TestResultsAreCurrent(t *testing.T) {
	r := committed(t)
	if missing := r.Missing(); len(missing) > 0 || len(r.Mutants) != len(mutants.All()) {
		var names []string
		for _, m := range missing {
			names = append(names, m.Name)
		}
		t.Errorf("results.json has %d results for %d mutants, and none for these as they are now: %v: %s", len(r.Mutants), len(mutants.All()), names, again)
	}
	for _, m := range mutants.All() {
		if result, ok := r.Of(m.Name); ok {
			for _, problem := range m.Problems(result) {
				t.Error(problem)
			}
		}
	}
	page, err := os.ReadFile("TABLE.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != r.Page() {
		t.Errorf("TABLE.md is not what results.json says: %s", again)
	}
}

// A sample is killed by all that are said to kill it. The sample is another one whenever the sources change.
func TestSample(t *testing.T) {
	longest.Only(t, "builds a command for every mutant of the sample")
	sources, err := mutants.Sources(t.Context(), "..")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(sources)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(raw), 0))
	all := mutants.All()
	if _, err := exec.LookPath("redis-server"); err != nil { // which unit tests need
		all = slices.DeleteFunc(all, func(m mutants.Mutant) bool { return m.Tests != nil })
	}
	var sample []mutants.Mutant
	for _, i := range draw.Perm(len(all))[:4] {
		sample = append(sample, all[i])
	}
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: sample, EveryKiller: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		for _, problem := range o.Mutant.Problems(o.Result(sources)) {
			t.Error(problem)
		}
	}
}

// Without a mutant the killers are as expected and searches find nothing, in a build made in the same way: else a kill would
// say nothing.
func TestNothingIsFoundWithoutMutants(t *testing.T) {
	longest.Only(t, "builds the command")
	none := mutants.Mutant{Name: "none", Edits: []mutants.Edit{{File: "redlock/doc.go", Old: "package redlock\n", New: "package redlock\n"}}}
	onWire := mutants.Mutant{Name: "none-on-wire", Tier: "wire"}
	add := func(to *mutants.Mutant, killers []string) {
		for _, k := range killers {
			if !slices.Contains(to.Killers, k) {
				to.Killers = append(to.Killers, k)
			}
		}
	}
	for _, m := range mutants.All() {
		if m.Tier == onWire.Tier {
			add(&onWire, m.Killers)
		} else {
			add(&none, m.Killers)
		}
	}
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: []mutants.Mutant{none, onWire}, EveryKiller: true, Search: committed(t).Searched})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if len(o.KilledBy) > 0 || o.Runs == 0 || o.Runs != len(o.Mutant.Killers) {
			t.Errorf("%s: red are %v, after %d runs of %d", o.Mutant.Name, o.KilledBy, o.Runs, len(o.Mutant.Killers))
		}
		for _, f := range o.Found {
			if f.Run > 0 || f.How != "" {
				t.Errorf("a search with the settings %s finds something without a bug: %+v", f.Settings, f)
			}
		}
	}
	if len(outcomes[0].Found) != len(mutants.AllSettings()) {
		t.Errorf("searched with %v", outcomes[0].Found)
	}
}

// A kill is the last run unless more is asked for. A process in which a goroutine panics, or that waits for ever, is
// a kill, and hides nothing.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	edit := func(name, file, old, new string, killers ...string) mutants.Mutant {
		return mutants.Mutant{Name: name, Edits: []mutants.Edit{{File: file, Old: old, New: new}}, Killers: killers}
	}
	const isReached = "return b.Accepted.Len() >= quorum }"
	const calm = "48-database-row-lock/contention" // has no node
	cases := []struct {
		mutant mutants.Mutant
		by     string
		runs   int
	}{
		{edit("second", "sim/model/model.go", "s.get(key, now); taken {", "s.get(key, now); taken && len(c.Keys) > 1 {",
			calm, "09-contention", "10-two-nodes-crash"), "[09-contention]", 2},
		{edit("survivor", "redlock/doc.go", "package redlock\n", "package redlock\n", calm), "[]", 1},
		{edit("panics", "internal/quorum/quorum.go", isReached, "go func() { panic(\"planted\") }(); select {} }", "09-contention"), "[09-contention (panics)]", 1},
		{edit("deadlocks", "internal/quorum/quorum.go", isReached, "select {} }", calm, "09-contention"), "[09-contention (does not end)]", 2},
	}
	var all []mutants.Mutant
	for _, c := range cases {
		all = append(all, c.mutant)
	}
	told := 0
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: all, Limit: 2 * time.Second, Done: func(mutants.Outcome) error { told++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if told != len(all) {
		t.Errorf("told of %d outcomes, want %d", told, len(all))
	}
	for i, c := range cases {
		if got := fmt.Sprint(outcomes[i].KilledBy); got != c.by || outcomes[i].Runs != c.runs || outcomes[i].Took <= 0 {
			t.Errorf("%s: killed by %s after %d runs in %v, want %s after %d", c.mutant.Name, got, outcomes[i].Runs, outcomes[i].Took, c.by, c.runs)
		}
	}
}

// What is no end that a mutant brings about is an error.
func TestRunFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	for name, m := range map[string]mutants.Mutant{
		"no such place":    {Name: "nowhere", Edits: []mutants.Edit{{File: "redlock/doc.go", Old: "no such text", New: ""}}},
		"does not build":   {Name: "broken", Edits: []mutants.Edit{{File: "redlock/doc.go", Old: "package redlock\n", New: "package"}}},
		"no such scenario": {Name: "unknown", Killers: []string{"99-no-such-scenario"}},
	} {
		out, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: []mutants.Mutant{m}})
		if err == nil || !strings.Contains(err.Error(), m.Name) || len(out) != 1 || len(out[0].KilledBy) > 0 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mutants.Run(ended, mutants.Options{Root: "..", Mutants: mutants.All()[:1]}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// Results that are read are those that were written, in the order of the mutants whatever the order in which they came.
func TestResults(t *testing.T) {
	all := mutants.All()
	r := mutants.Results{Searched: 7}
	for _, i := range []int{3, 0, 2, 0} {
		o := mutants.Outcome{Mutant: all[i], KilledBy: []mutants.Kill{{By: "x", How: "panics"}}, Runs: i, Found: []mutants.Found{{Settings: "guard", Run: 4}}}
		r.Add(o.Result("s"))
	}
	path := filepath.Join(t.TempDir(), "results.json")
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := mutants.ReadResults(path)
	if err != nil || fmt.Sprint(read) != fmt.Sprint(r) {
		t.Errorf("read %v, %v, want %v", read, err, r)
	}
	if got := []string{read.Mutants[0].Name, read.Mutants[1].Name, read.Mutants[2].Name}; !slices.Equal(got, []string{all[0].Name, all[2].Name, all[3].Name}) {
		t.Errorf("in the order %v", got)
	}
	if n := len(read.Missing()); n != len(all)-3 {
		t.Errorf("%d are missing", n)
	}
	if n := len(read.Outdated("s")); n != len(all)-3 {
		t.Errorf("%d are outdated", n)
	}
	if n := len(read.Outdated("other")); n != len(all) {
		t.Errorf("%d are outdated after the sources have changed", n)
	}
	changed, gone := all[5], all[6]
	changed.Killers, gone.Name = append(slices.Clone(changed.Killers), "another"), "gone"
	more := read
	more.Add(mutants.Outcome{Mutant: changed}.Result("s"))
	if _, has := more.Of(changed.Name); !has || len(more.Missing()) != len(all)-3 {
		t.Errorf("a mutant that was changed has a result: %v", more.Mutants)
	}
	more.Mutants = append(more.Mutants, mutants.Outcome{Mutant: gone}.Result("s"))
	if kept := more.Kept(); len(kept.Mutants) != 4 || len(more.Mutants) != 5 {
		t.Errorf("%d results are kept of %d", len(kept.Mutants), len(more.Mutants))
	}
	if page := read.Page(); !strings.Contains(page, "x (panics)") || !strings.Contains(page, "guard (4)") || !strings.Contains(page, "not run yet") {
		t.Error(page)
	}
	if none, err := mutants.ReadResults(path + "x"); err != nil || none.Mutants != nil {
		t.Errorf("no file: %v, %v", none, err)
	}
}

// The sources are those of the packages that are run and of the scenarios.
func TestSourcesAreAll(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	hash := func() string {
		s, err := mutants.Sources(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := hash()
	for file, matters := range map[string]bool{"redlock/lock.go": true, "internal/redisnode/vote.lua": true, "scenarios/files/09-contention.yaml": true,
		"mutants/library.go": true, "redlock/lock_test.go": false, "README.md": false, "cmd/redlocksim/main.go": false} {
		path := filepath.Join(root, file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := hash() != before; got != matters {
			t.Errorf("a change of %s makes a difference: %v", file, got)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryMutantHasItsPlace(t *testing.T) {
	names, tiers := map[string]bool{}, []string{"", string(scenarios.Model), string(scenarios.Wire)}
	for _, m := range mutants.All() {
		if _, err := m.Overlay("..", t.TempDir()); err != nil {
			t.Error(err)
		}
		if names[m.Name] || m.Bug == "" || len(m.Edits) == 0 || !slices.Contains(tiers, m.Tier) {
			t.Errorf("%q is there twice, or has no story, no edit or no such tier as %q", m.Name, m.Tier)
		}
		names[m.Name] = true
		if len(m.Killers)+len(m.Tests) > 0 == (m.Equivalent != "") {
			t.Errorf("%s must have something that kills it, or a reason why nothing can", m.Name)
		}
		for _, name := range m.Killers {
			if !slices.ContainsFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name }) {
				t.Errorf("%s: there is no scenario %s to kill it", m.Name, name)
			}
		}
		for _, test := range m.Tests {
			files, err := filepath.Glob(filepath.Join("..", test.Package, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			function, _, _ := strings.Cut(test.Name, "/") // a part of it is looked for when it is run
			if !slices.ContainsFunc(files, func(file string) bool {
				source, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(source), "\nfunc "+function+"(t *testing.T) {")
			}) {
				t.Errorf("%s: there is no test %v to kill it", m.Name, test)
			}
		}
	}
}

// The settings can be read, and each turns on what it is named after.
func TestSettings(t *testing.T) {
	for _, s := range mutants.AllSettings() {
		base, err := scenarios.ParseSettings(s.Name, []byte(s.Text))
		if err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, s.Text)
			continue
		}
		if l := protocols.Of[protocols.RedlockSettings](base.Lock); l.Fencing != (s.Name == "fencing") || (l.Guard != nil) != (s.Name == "guard") || (l.WakeUp > 0) != (s.Name == "wake-up") ||
			(l.Batching > 0) != (s.Name == "batching") || (base.Lock.Renewals > 0) != (s.Name == "renewal") {
			t.Errorf("%s: %+v", s.Name, base.Lock)
		}
	}
}

// Each protocol and preset besides the library has settings with which it is searched, and they can be read.
func TestOthersSettings(t *testing.T) {
	searched := map[string]bool{}
	for _, s := range mutants.OthersSettings() {
		if searched[s.Name] {
			t.Errorf("there are two settings %s", s.Name)
		}
		searched[s.Name] = true
		base, err := scenarios.ParseSettings(s.Name, []byte(s.Text))
		if err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, s.Text)
			continue
		}
		searched[string(base.Lock.Protocol)], searched[string(base.Lock.Preset)] = true, true
	}
	for _, p := range protocols.All() { // but for the library, and what is broken by design
		if !p.Capabilities.Keyless && p.Name != "redlock" && p.Name != "one-redis" && !searched[string(p.Name)] {
			t.Errorf("nobody searches protocol %s", p.Name)
		}
	}
	for _, name := range protocols.Presets() {
		if !searched[name] {
			t.Errorf("nobody searches preset %s", name)
		}
	}
}
