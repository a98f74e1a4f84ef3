package main

import (
	"context"
	"crypto/sha256"
	"flag"
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
)

const again = "go run ./mutants/measure writes it; it can be interrupted"

// committed is the results of a target in the repository.
func committed(t *testing.T, target string) records {
	t.Helper()
	r, err := read(filepath.Join("..", resultsPath(target)))
	if err != nil || r.Target != target {
		t.Fatalf("no results of %s: %v", target, err)
	}
	return r
}

// Every planted bug was measured as it is now, and is noticed by everything that is said to notice it.
func TestResultsAreCurrent(t *testing.T) {
	r := committed(t, planted.name)
	for _, m := range mutants.All() {
		if !r.has(m, "") {
			t.Errorf("%s was not measured as it is now: go run ./mutants/measure planted", m.Name)
		}
	}
	for _, problem := range r.missed() {
		t.Error(problem)
	}
	if len(r.Bugs) != len(mutants.All()) {
		t.Errorf("there are results of %d mutants, and %d mutants: go run ./mutants/measure planted", len(r.Bugs), len(mutants.All()))
	}
}

// The pages say what the results say, and every decision is about a bug that neither the suite nor a search noticed.
func TestPagesAreCurrent(t *testing.T) {
	for _, target := range targets[1:] {
		results := committed(t, target.name)
		page, err := os.ReadFile(filepath.Join("..", target.page))
		if err != nil {
			t.Fatal(err)
		}
		if string(page) != results.page(target) {
			t.Errorf("%s is not what %s says: %s", target.page, resultsPath(target.name), again)
		}
		for _, m := range results.Bugs {
			if m.Judged != "" && m.caught(ours...) {
				t.Errorf("%s is said to change nothing, and is noticed: %v", m.Name, m)
			}
		}
	}
}

// drawn is a few numbers below n, which are others with each commit.
func drawn(t *testing.T, n, few int) []int {
	t.Helper()
	sources, err := sources(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(sources)))).Perm(n)[:min(few, n)]
}

// A sample of the planted bugs is noticed by all that are said to notice them.
func TestSample(t *testing.T) {
	longest.Only(t, "builds a command for every mutant of the sample")
	all := mutants.All()
	if _, err := exec.LookPath("redis-server"); err != nil { // which unit tests need
		all = slices.DeleteFunc(all, func(m mutants.Mutant) bool { return m.Tests != nil })
	}
	for _, i := range drawn(t, len(all), 4) {
		m := all[i]
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			b := built(t, m)
			r := record{Columns: map[string]outcome{}}
			for _, trial := range plantedTrials(m) {
				if out, err := b.try(t.Context(), trial); err != nil {
					t.Error(err)
				} else {
					r.Columns[trial.column] = out
				}
			}
			for _, problem := range r.missing(m) {
				t.Error(problem)
			}
		})
	}
}

// built is a build of a mutant.
func built(t *testing.T, m mutants.Mutant) *build {
	t.Helper()
	b, remove, err := newBuild("../..", m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return b
}

// Without a mutant every scenario is as expected and searches find nothing, in a build made in the same way: else a kill would
// say nothing.
func TestNothingIsFoundWithoutMutants(t *testing.T) {
	longest.Only(t, "builds the command")
	b := built(t, mutants.Mutant{})
	for _, trial := range []trial{
		{column: columnSuite, args: []string{"suite"}, kind: quick},
		{column: columnSearch, args: []string{"search"}, cpu: 10 * time.Second, kind: quick},
	} {
		if out, err := b.try(t.Context(), trial); err != nil || out.How != "" {
			t.Errorf("%s finds something without a bug: %+v, %v", trial.column, out, err)
		}
	}
}

var bugs = flag.Int("bugs", 5, "how many of the bugs that a scenario noticed are built and run again")

// Some of the drawn bugs that a scenario noticed are still noticed by it.
func TestStillNoticed(t *testing.T) {
	longest.Only(t, "builds a command for every bug")
	noticed := slices.DeleteFunc(committed(t, "library").Bugs, func(m record) bool {
		text, err := os.ReadFile(filepath.Join("../..", m.Edit.File))
		return !m.caught(columnSuite) || err != nil || strings.Count(string(text), m.Edit.Old) != 1
	})
	if len(noticed) == 0 {
		t.Fatalf("none of the bugs that were measured has a place any more: %s", again)
	}
	for _, i := range drawn(t, len(noticed), *bugs) {
		m := noticed[i]
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			again := trial{args: []string{"suite"}, kind: quick}
			if fields := strings.Fields(m.Columns[columnSuite].By); len(fields) > 0 { // otherwise it ended without saying where
				again.args = append(again.args, fields[0])
			}
			out, err := built(t, mutants.Mutant{Name: m.Name, Edits: []mutants.Edit{*m.Edit}}).try(t.Context(), again)
			if err != nil || out.How == "" {
				t.Errorf("%s does not notice it any more: %v\n%s", m.Columns[columnSuite].By, err, m.Edit.Diff())
			}
		})
	}
}

// What does not build is an error, and names the bug.
func TestMeasureFails(t *testing.T) {
	broken := mutants.Mutant{Name: "broken", Edits: []mutants.Edit{{File: "redlock/doc.go", Old: "package redlock\n", New: "package"}}}
	if _, err := built(t, broken).try(t.Context(), trial{args: []string{"suite"}, kind: quick}); err == nil || !strings.Contains(err.Error(), "build") {
		t.Errorf("it builds: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := measurement{root: "../..", target: planted, jobs: 1, results: records{Bugs: []record{{Name: "gone"}, {Name: mutants.All()[0].Name}}}}
	if err := m.run(ended, func(record) error { t.Error("something is measured"); return nil }); err != nil || len(m.results.Bugs) != 1 {
		t.Errorf("an interrupted measurement fails, or keeps what is gone: %v, %v", err, m.results.Bugs)
	}
	if _, err := targetOf("no such target"); err == nil {
		t.Error("no error for a target that there is not")
	}
	protocols, err := targetOf("protocols")
	if err != nil {
		t.Fatal(err)
	}
	if all := protocols.trials(time.Second); len(all) != 2 || all[1].column != columnSearch {
		t.Errorf("the trials are %v", all)
	}
}
