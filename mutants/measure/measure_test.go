package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

func TestProcess(t *testing.T) {
	sh := func(script string) process { return process{binary: "/bin/sh", args: []string{"-c", script}} }
	for script, want := range map[string]string{
		`test "$(ulimit -t) $(ulimit -v)" = "180 8388608" || exit 3`: "",
		"exit 0": "", "echo 9-x on wire; exit 1": "safety", "exit 3": "liveness", "exit 4": "does not repeat", "exit 6": "not tested",
		"echo 'panic: x' >&2; exit 2":                                           "panic",
		"echo 'fatal error: all goroutines are asleep - deadlock!' >&2; exit 2": "deadlock",
		"echo 'it spins' >&2; exit 5":                                           "spins",
		"echo 'it waits for ever' >&2; exit 5":                                  "hangs",
		"exit 5":                                                                "no verdict",
		"echo 'settings:1:7: lock: redlock: client closed' >&2; exit 64":        "refused",
		"ulimit -t 1; while :; do :; done":                                      "spins",
	} {
		end, err := sh(script).run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if out, err := end.outcome(); err != nil || out.How != want {
			t.Errorf("%s: %+v, %v, want %q", script, out, err, want)
		}
	}
	end, err := sh("echo 1-x; echo 2-y on wire; exit 1").run(t.Context())
	if out, outErr := end.outcome(); err != nil || outErr != nil || out.By != "2-y on wire" {
		t.Errorf("noticed by %+v, %v, %v", out, err, outErr)
	}
	end, err = sh("echo usage >&2; exit 64").run(t.Context())
	if _, outErr := end.outcome(); err != nil || outErr == nil {
		t.Errorf("wrong arguments are a bug that was noticed: %v", err)
	}
	end, err = process{binary: "/no such program"}.run(t.Context())
	if _, outErr := end.outcome(); err != nil || outErr == nil {
		t.Errorf("a program that there is not is a bug that was noticed: %v", err)
	}
}

// Unit tests that crash, or one that fails, are a sign of a bug if they do so twice.
func TestUnitTests(t *testing.T) {
	const at, first = "directory", `test -e ran || { touch ran; `
	for script, want := range map[string]outcome{
		"exit 0":                                 {},
		first + "echo panic; exit 2; }":          {},
		"echo panic; exit 2":                     {How: "panic", By: at},
		first + "kill $$; }; echo panic; exit 1": {How: "panic", By: at},
		"echo '--- FAIL: TestA'; exit 1":         {How: "fails", By: at + ".TestA"},
		"case $* in *-test.run=*TestA*|*-test.skip=*TestA*) exit 0;; esac; echo '--- FAIL: TestA'; exit 1": {},
	} {
		root := t.TempDir()
		binary := filepath.Join(root, "tests")
		err := errors.Join(os.Mkdir(filepath.Join(root, at), 0o777), os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o777))
		if err != nil {
			t.Fatal(err)
		}
		out, err := (&build{root: root}).test(t.Context(), binary, mutants.Test{Package: at})
		if out.CPU = 0; err != nil || out != want {
			t.Errorf("%s: %+v, %v, want %+v", script, out, err, want)
		}
	}
}

// one is what all results of the tests are of.
var one = mutants.Mutant{Edits: []mutants.Edit{{File: "a.go", Old: "x\n", New: "y\n"}}}

// library is the target of the results of the tests.
var library = targets[1]

// result has these outcomes in the first columns.
func result(name string, outcomes ...outcome) record {
	r := record{Name: name, Mutant: one.Fingerprint(), Class: generate.Condition, Edit: &one.Edits[0], Sources: "0123456789", Columns: map[string]outcome{}}
	for i, c := range library.columns[:len(outcomes)] {
		r.Columns[c] = outcomes[i]
	}
	return r
}

func TestResults(t *testing.T) {
	none, some := outcome{CPU: 5}, outcome{How: "safety", By: "run 7", CPU: 2}
	hangs := outcome{How: "hangs", By: "12-holder-dies/crash on live", CPU: 3}
	r := records{common: common{library.name, "abc", 9, 20}}
	for _, one := range []record{result("c", none), result("a", some, some, some), result("e", none, none, none, hangs), result("b", some, none, none),
		result("c", none, none, none, none), result("d", none, none, none, none)} {
		r.add(one)
	}
	if !slices.IsSortedFunc(r.Bugs, func(a, b record) int { return strings.Compare(a.Name, b.Name) }) || len(r.Bugs) != 5 {
		t.Errorf("in the order %v", r.Bugs)
	}
	path := filepath.Join(t.TempDir(), "results.jsonl")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	read, err := read(path)
	if err != nil || fmt.Sprint(read.Bugs) != fmt.Sprint(r.Bugs) || read.common != r.common {
		t.Errorf("read %v, %v, want %v", read, err, r)
	}
	m := one
	if m.Name = "a"; !read.has(m, "0123456789") || !read.has(m, "") {
		t.Error("what was measured is not known")
	}
	changed := m
	if changed.Edits = []mutants.Edit{{File: "a.go", Old: "x\n", New: "z\n"}}; read.has(m, "other") || read.has(changed, "") {
		t.Error("a result of other sources or of another bug is taken")
	}
	d := result("d", none)
	d.Judged = "it is so"
	changed.Name = "c"
	c := result("c", none)
	c.Mutant, c.Judged = changed.Fingerprint(), "it was"
	for _, one := range []record{d, result("d", none), c, result("c", none)} { // which are measured again
		read.add(one)
	}
	page := read.page(library)
	for _, want := range []string{"together: **2 of 4 (50 %)**", "scenario: **1 of 4 (25 %)**", "All columns: 3 of 4 (75 %).", "## Survivors", "## Noticed by unit tests alone", "it is so"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "it was") {
		t.Error("a decision about another change counts")
	}
}

// What is said to notice a planted bug and does not is missing, or shows only that a scenario shows nothing.
func TestMissing(t *testing.T) {
	m := mutants.Mutant{Name: "m", Killers: []string{"a", "b", "c"}, Tests: []mutants.Test{{Package: "p", Name: "T"}}}
	r := record{Columns: map[string]outcome{"a": {How: "safety"}, "b": {How: notTested}, "p.T": {How: "fails"}}}
	if missing := r.missing(m); len(missing) != 2 || !strings.Contains(missing[0], "by b") || !strings.Contains(missing[1], "by c") {
		t.Errorf("missing are %q", missing)
	}
	if all := plantedTrials(m); len(all) != 4 || all[0].column != "p.T" || !slices.Equal(all[1].args, []string{"suite", "-tier", "model", "a"}) {
		t.Errorf("the trials are %+v", all)
	}
}

// Every drawn bug has its place, once, and a name of its own.
func TestTargets(t *testing.T) {
	for _, target := range targets[1:] {
		s, err := generate.Load("../..", target.directories)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, m := range s.Mutants {
			text, err := os.ReadFile(filepath.Join("../..", m.File()))
			if err != nil {
				t.Fatal(err)
			}
			edit := m.Edits[0]
			if strings.Count(string(text), edit.Old) != 1 || edit.Old == edit.New || edit.Diff() == "" || names[m.Name] {
				t.Errorf("%s: %+v", m.Name, edit)
			}
			names[m.Name] = true
		}
		if len(s.Mutants) < 500 {
			t.Errorf("only %d bugs in %s", len(s.Mutants), target.name)
		}
	}
}
