package power

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/cover"

	"redlocksim/internal/longest"
	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

const again = "go run ./mutants/measure writes it"

// The pages say what the results say, and every decision is about a bug that was measured and that nothing noticed.
func TestPagesAreCurrent(t *testing.T) {
	judged, err := ReadJudged("../judged.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decided := map[string]bool{}
	for _, target := range []generate.Target{generate.Library, generate.Semaphores, generate.Protocols} {
		files, _ := FilesOf(target)
		results, err := Read(filepath.Join("..", files.Results))
		if err != nil {
			t.Fatal(err)
		}
		if results.Target == "" {
			continue // not measured yet
		}
		page, err := os.ReadFile(filepath.Join("..", files.Page))
		if err != nil {
			t.Fatal(err)
		}
		if string(page) != results.Page(judged) {
			t.Errorf("%s is not what %s says: %s", files.Page, files.Results, again)
		}
		for _, m := range results.Mutants {
			if of(judged, m).Verdict == "" {
				continue
			}
			decided[m.Name] = true
			if m.caught(allColumns...) && of(judged, m).Verdict == Equivalent {
				t.Errorf("%s is said to be equivalent, and is noticed: %v", m.Name, m)
			}
		}
	}
	for _, j := range judged {
		if !decided[j.Name] {
			t.Errorf("judged.yaml decides about %s, which is not in the results with this change", j.Name)
		}
	}
}

var bugs = flag.Int("bugs", 5, "how many of the bugs that a scenario noticed are built and run again")

// Some of the bugs that a scenario noticed are still noticed by it. They are others whenever the sources change.
func TestStillNoticed(t *testing.T) {
	longest.Only(t, "builds a command for every bug")
	results, err := Read("../power.json")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := mutants.Sources(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(sources)
	if err != nil {
		t.Fatal(err)
	}
	noticed := slices.DeleteFunc(slices.Clone(results.Mutants), func(m Result) bool {
		text, err := os.ReadFile(filepath.Join("../..", m.Edit.File))
		return !m.caught(Suite) || err != nil || strings.Count(string(text), m.Edit.Old) != 1
	})
	if len(noticed) == 0 {
		t.Fatalf("none of the bugs that were measured has a place any more: %s", again)
	}
	draw := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(raw), 0))
	for _, i := range draw.Perm(len(noticed))[:min(*bugs, len(noticed))] {
		m := noticed[i]
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			binary, err := generate.Mutant{Name: "bug", Edit: m.Edit}.Mutant().Build(t.Context(), "../..", t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"suite"}
			if fields := strings.Fields(m.Columns[Suite].By); len(fields) > 0 { // otherwise it ended without saying where
				args = append(args, fields[0])
			}
			end, err := process{binary: binary, args: args, environment: []string{"GOMAXPROCS=1"}}.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if out, err := end.outcome(); err != nil || out.How == "" {
				t.Errorf("%s does not notice it any more: %v\n%s", m.Columns[Suite].By, err, m.diff())
			}
		})
	}
}

func TestProcess(t *testing.T) {
	sh := func(script string) process { return process{binary: "/bin/sh", args: []string{"-c", script}} }
	for script, want := range map[string]string{
		"exit 0": "", "echo 9-x on wire; exit 1": "safety", "exit 3": "liveness", "exit 4": "does not repeat", "exit 6": "not tested",
		"echo 'panic: x' >&2; exit 2":                                           "panic",
		"echo 'fatal error: all goroutines are asleep - deadlock!' >&2; exit 2": "deadlock",
		"echo 'SIGXCPU: CPU time limit exceeded' >&2; exit 2":                   "spins",
		"exit 5": "no verdict",
		"echo 'settings:1:7: lock: redlock: client closed' >&2; exit 64": "refused",
		"ulimit -t 1; while :; do :; done":                               "spins",
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
	if _, err := (process{binary: "/no such program"}).run(t.Context()); err == nil {
		t.Error("no error for a program that there is not")
	}
}

// A process that waits for ever is ended.
func TestIdle(t *testing.T) {
	end, err := process{binary: "/bin/sleep", args: []string{"300"}, patience: time.Second}.run(t.Context())
	if err != nil || !end.idle {
		t.Fatalf("%+v, %v", end, err)
	}
	if out, err := end.outcome(); err != nil || out.How != "hangs" {
		t.Errorf("%+v, %v", out, err)
	}
}

// Unit tests that crash, or one that fails, are a sign of a bug if they do so twice.
func TestUnitTests(t *testing.T) {
	const at, first = "directory", `test -e ran || { touch ran; `
	for script, want := range map[string]Outcome{
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
		out, err := (&build{root: root}).test(t.Context(), binary, at)
		if out.CPU = 0; err != nil || out != want {
			t.Errorf("%s: %+v, %v, want %+v", script, out, err, want)
		}
	}
}

func TestReached(t *testing.T) {
	at := func(file string, line, column int) generate.Mutant {
		return generate.Mutant{Edit: mutants.Edit{File: file}, Statement: generate.Position{Line: line, Column: column}}
	}
	r := &reached{Columns: map[Column]blocks{Explore: {"a.go": {{StartLine: 1, StartCol: 5, EndLine: 3, EndCol: 2, Count: 1}, {StartLine: 3, StartCol: 2, EndLine: 9, EndCol: 1}}}}}
	for name, c := range map[string]struct {
		m    generate.Mutant
		want bool
	}{
		"executed": {at("a.go", 2, 1), true}, "not executed": {at("a.go", 3, 2), false}, "in no block": {at("a.go", 9, 1), true},
		"another file": {at("b.go", 2, 1), true}, "a script": {at("x.lua", 1, 1), false},
	} {
		if r.by(Explore, c.m) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	if !r.by(Tests, at("a.go", 3, 2)) {
		t.Error("what was not counted is reached")
	}
	r.Columns[Explore][adapter] = []cover.ProfileBlock{{Count: 1}}
	if !r.by(Explore, at("x.lua", 1, 1)) {
		t.Error("scripts are reached where the adapter is")
	}
	r.Searched = map[string]blocks{}
	for _, s := range targets[generate.Protocols].settings() {
		r.Searched[s.Name] = blocks{"a.go": {{StartLine: 1, StartCol: 1, EndLine: 3, EndCol: 1}}}
	}
	r.Searched["get-set"] = blocks{"a.go": {{StartLine: 1, StartCol: 1, EndLine: 3, EndCol: 1, Count: 1}}}
	if with := r.settings(generate.Protocols, at("a.go", 2, 1)); len(with) != 1 || with[0].Name != "get-set" {
		t.Errorf("a search has %v", with)
	}
}

// edit is that of every result of the tests.
var edit = mutants.Edit{File: "a.go", Old: "x\n", New: "y\n"}

// result has these outcomes in the first columns.
func result(name string, outcomes ...Outcome) Result {
	r := Result{Name: name, Class: generate.Condition, Edit: edit, Sources: "0123456789", Limit: 5, Columns: map[Column]Outcome{}}
	for i, c := range allColumns[:len(outcomes)] {
		r.Columns[c] = outcomes[i]
	}
	return r
}

// A column that was not measured is not on the page.
func TestColumnsOfThePage(t *testing.T) {
	outcome := Outcome{CPU: 5}
	for columns, want := range map[int]bool{4: false, 5: true} {
		r := Results{Target: generate.Library, Mutants: []Result{result("a", slices.Repeat([]Outcome{outcome}, columns)...)}}
		if page := r.Page(nil); strings.Contains(page, "- live: ") != want || strings.Contains(page, "| live |") != want {
			t.Errorf("%d columns were measured:\n%s", columns, page)
		}
	}
}

func TestResults(t *testing.T) {
	var r Results
	none, some := Outcome{CPU: 5}, Outcome{How: "safety", By: "run 7", CPU: 2}
	hangs := Outcome{How: "hangs", By: "12-holder-dies/crash on live", CPU: 3}
	r.Target, r.Seed, r.Sample = generate.Library, "abc", 9
	for _, one := range []Result{result("c", none), result("a", some, some, some, some), result("b", some, none, none, none), result("c", none, none, none, none, none), result("d", none, none, none, none, none)} {
		r.Add(one)
	}
	r.Add(result("e", none, none, none, none, hangs))
	slices.Reverse(r.Mutants)
	r.Add(result("b", some, none, none, none))
	if !slices.IsSortedFunc(r.Mutants, func(a, b Result) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("in the order %v", r.Mutants)
	}
	path := filepath.Join(t.TempDir(), "results.json")
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := Read(path)
	if err != nil || fmt.Sprint(read) != fmt.Sprint(r) || len(read.Mutants) != 5 {
		t.Errorf("read %v, %v, want %v", read, err, r)
	}
	m := generate.Mutant{Name: "a", Edit: edit}
	if _, known := read.Of(m, "0123456789", 5); !known {
		t.Error("what was measured is not known")
	}
	changed := m
	changed.Edit.New = "z\n"
	for _, known := range []bool{
		func() bool { _, ok := read.Of(m, "other", 5); return ok }(), func() bool { _, ok := read.Of(m, "0123456789", 6); return ok }(),
		func() bool { _, ok := read.Of(changed, "0123456789", 5); return ok }(),
	} {
		if known {
			t.Error("a result of other sources, of another limit or of another bug is taken")
		}
	}
	page := read.Page([]Judged{{Name: "d", Verdict: Equivalent, Diff: "-x\n+y\n", Why: "it is so"}, {Name: "c", Verdict: Performance, Diff: "-x\n+z\n", Why: "no"}})
	for _, want := range []string{"together: **2 of 4 (50 %)**", "scenario: **1 of 4 (25 %)**", "All columns: 3 of 4 (75 %). The suite noticed 1 only on tier live.", "| live | 1 | 3.0 s | 3.0 s |", "## Survivors", "## Noticed by unit tests alone", "it is so", "| explore | 1 | 2.0 s | 2.0 s |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "## Performance only") {
		t.Error("a decision about another change counts")
	}
}

// What is known is not measured again, and an error ends the measurement before it begins.
func TestMeasure(t *testing.T) {
	o := Options{Root: "../..", Limit: time.Second}
	if err := o.measure(t.Context(), []generate.Mutant{{Name: "a"}}, func(generate.Mutant) (Result, bool) { return Result{}, true }); err != nil {
		t.Error(err)
	}
	o.Target = "no such target"
	if err := Measure(t.Context(), o, nil); err == nil {
		t.Error("no error for a target that there is not")
	}
	o.Target, o.Columns = generate.Protocols, []Column{Suite, Explore}
	if err := Measure(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "explore") {
		t.Errorf("a column that the target has not: %v", err)
	}
}
