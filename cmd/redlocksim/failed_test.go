package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/shell"
	"redlocksim/locks"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/audit"
	"redlocksim/search/sweep"
)

// panicking is a scenario with a fault that panics.
func panicking() *scenarios.Scenario {
	s := *scenarios.Catalogue()[0]
	s.Name = "at-sea"
	s.Timeline = append(slices.Clone(s.Timeline), scenarios.Item{Kind: "kill", Fault: (*faults.Kill)(nil)})
	return &s
}

// A run that panics, one of which nothing can be told and one that panics without a fault of its own end no suite: each report
// names them with what repeats them, and has the others.
func TestASuiteWithRunsThatFail(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	cmd := newSuite()
	cmd.SetContext(t.Context())
	var stdout bytes.Buffer
	cmd.SetOut(&stdout)
	s := &suite{files: fileReportsOf(ciReports), asked: new(uint64(7)), json: in("j.json"), html: in("pages")}
	for i, r := range ciReports {
		s.files.paths[i] = in(r.flag)
	}
	fine := scenarios.Catalogue()[0]
	s.chosen = []chosen{{Scenario: panicking()}, {Scenario: fine}}
	to := newSink(cmd, false)
	if err := s.simulate(cmd, scenarios.Tiers()); err != nil {
		t.Fatal(err)
	}
	silent := *fine
	silent.Name = "silent"
	s.add(&chosen{Scenario: &silent}, &verdict.Result{Scenario: &silent, Tier: scenarios.Model, Seed: 7}, 0)
	if err := s.report(cmd, &to, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.drawSuite(cmd, &to); err != nil {
		t.Fatal(err)
	}
	if code := s.code(cmd); code != exitInternal {
		t.Errorf("exit code %d, want %d", code, exitInternal)
	}
	read := func(name string) string {
		data, err := os.ReadFile(in(name))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	repeat := "redlocksim run at-sea --tier wire --seed 7"
	for name, c := range map[string]struct {
		text  string
		wants []string
	}{
		"stdout":   {stdout.String(), []string{"5 runs, 2 as expected, 3 not", repeat, "seed 7: panic: ", "silent"}},
		"json":     {read("j.json"), []string{`"name": "at-sea"`, `"verdict": "failed"`, repeat, `"name": "` + fine.Name, `"name": "silent"`, `"ok": false`}},
		"junit":    {read("junit"), []string{`<error message="scenarios: at-sea, tier wire, seed 7: panic: `, "panic.go", repeat, fine.Name, "silent"}},
		"markdown": {read("markdown"), []string{"at-sea", "panic.go", repeat, "silent"}},
		"html":     {read("pages/index.html"), []string{"at-sea</td>", "failed", `<span class="wrong">wire: no</span>`, pageName(fine, scenarios.Wire, false), "silent</td>"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s has no %q:\n%s", name, want, c.text)
			}
		}
	}
	if pages, _ := os.ReadDir(in("pages")); len(pages) != 4 {
		t.Errorf("pages %v, want that of the case that was run, an index, and what they share", pages)
	}
}

// The table of locks is made of all runs, and names those that failed.
func TestATableWithARunThatFails(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var stderr bytes.Buffer
	cmd := newLocks()
	cmd.SetErr(&stderr)
	table := &lockTable{json: in("j.json"), markdown: in("m.md"), to: newSink(cmd, false)}
	c := &columns{lockTable: table, cmd: cmd, lock: &locks.Lock{Name: "mine"}, found: []*scenarios.Scenario{}}
	for _, name := range []string{"25-restart-delayed", "58-late-release"} {
		s, _ := scenarios.Find(name)
		c.found = append(c.found, s)
	}
	x := c.column(scenarios.Program, locks.Setting{Title: "defaults"}, &programs.About{Version: "1"}, []string{"mine.wasm"})
	single, _ := protocols.Find("single")
	x.foreign = &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		if env.FirstNode == c.found[0].FirstNode() {
			panic("at sea")
		}
		return single.New(env)
	}}
	if err := x.simulate(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.done()
	table.table.Locks = c.all
	f := failureOf(table.write())
	repeat := "redlocksim run 25-restart-delayed --seed 0 --lock mine.wasm"
	why := "scenarios: 25-restart-delayed, tier program, seed 0: panic: at sea"
	if f == nil || f.code != exitInternal || !strings.Contains(f.Error(), why+"\n") || !strings.Contains(f.Error(), repeat+" shows it") {
		t.Errorf("the command ends with %v", f)
	}
	if want := "2 runs, 1 busy-waits, 1 failed"; !strings.Contains(stderr.String(), want) {
		t.Errorf("%s\nwant %s\n%+v", &stderr, want, x.Cells)
	}
	for _, name := range []string{"j.json", "m.md"} {
		data, err := os.ReadFile(in(name))
		for _, want := range []string{why, repeat, "58-late-release"} {
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%s, %v: no %q in\n%s", name, err, want, data)
			}
		}
	}
}

// panicsAt is the library, but that its clients panic which have this TTL.
func panicsAt(ttl time.Duration) *scenarios.Foreign {
	library, _ := protocols.Find("redlock")
	return &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		if env.Settings.TTL == ttl {
			panic("at sea")
		}
		return library.New(env)
	}}
}

// A sweep of whose runs one fails writes its chart, and the command that it names makes that run.
func TestASweepWithARunThatFails(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	cmd := newSweep()
	cmd.SetContext(t.Context())
	cmd.SetOut(io.Discard)
	s := &sweepFlags{out: fileReportsOf(chartReports), changes: []string{"nodes.count=3"}, axes: []string{"lock.ttl=5s,10s", "budget.restart-delay=1s,20s"}}
	for i, r := range chartReports {
		s.out.paths[i] = in(r.flag)
	}
	args := []string{"restart"}
	spec, err := s.start(nil, args)
	if err := errors.Join(err, s.change(&spec)); err != nil {
		t.Fatal(err)
	}
	spec.Repeat, spec.Foreign = s.repeat(args), panicsAt(5*time.Second)
	chart, err := s.chart(cmd, spec)
	to := newSink(cmd, false)
	if err := errors.Join(err, writeChart(cmd, &to, &s.out, chart)); err != nil {
		t.Fatal(err)
	}
	if f := failureOf(chartVerdict(cmd, chart, false)); f == nil || f.code != exitInternal || !strings.Contains(f.Error(), "2 runs failed") {
		t.Errorf("the command ends with %v", f)
	}
	repeat := chart.Failures.Failures[0].Repeat("", "")
	for _, name := range []string{"json", "html"} {
		if data, err := os.ReadFile(in(name)); err != nil || !strings.Contains(string(data), "panic: at sea") || !strings.Contains(string(data), repeat) {
			t.Errorf("%s, %v: no %q in\n%s", name, err, repeat, data)
		}
	}
	words, err := shell.Split(repeat)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(append(words[1:], "--json", "-"), &stdout, &stderr); code != exitSafety && code != exitOK {
		t.Errorf("%s: exit code %d\n%s", repeat, code, &stderr)
	}
	var made sweep.Chart
	if err := json.Unmarshal(stdout.Bytes(), &made); err != nil || len(made.Cells) != 1 || !slices.Equal(made.Cells[0].At, []string{"5s", "1s"}) || !made.Cells[0].Broken() {
		t.Errorf("%s makes, %v,\n%s", repeat, err, &stdout)
	}
}

// An audit of whose runs one fails writes all lines.
func TestAnAuditWithARunThatFails(t *testing.T) {
	dir := t.TempDir()
	cmd := newAudit()
	var stdout bytes.Buffer
	cmd.SetOut(&stdout)
	answers, err := audit.Parse("ours.yaml", []byte("ttl: 8s\npersistence: always\n"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := audit.Of(t.Context(), answers, audit.Options{Foreign: panicsAt(8 * time.Second), Repeat: "redlocksim audit ours.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*auditFlags{{}, {json: filepath.Join(dir, "j")}} {
		a.to = newSink(cmd, false)
		stdout.Reset()
		f := failureOf(a.write(cmd, found))
		if f == nil || f.code != exitInternal || !strings.Contains(f.Error(), "redlocksim audit ours.yaml shows it") {
			t.Errorf("the command ends with %v", f)
		}
		text := stdout.Bytes()
		if path := a.json; path != "" {
			if text, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Contains(text, []byte("panic: at sea")) || !regexp.MustCompile(`(?m)redlocksim audit ours.yaml"?$`).Match(text) {
			t.Errorf("nothing names the run that failed:\n%s", text)
		}
	}
}
