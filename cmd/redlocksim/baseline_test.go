package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/verdict"
)

// A baseline that is none, or not of this lock, is refused before anything is run.
func TestBaselinesThatAreNone(t *testing.T) {
	const ran = `{"name": "09-contention", "tier": "program", "seed": 0}`
	lock := lockFlags{command: "naive.wasm", about: &programs.About{Library: "naive"}}
	contention, _ := scenarios.Find("09-contention")
	for text, want := range map[string]string{
		"":                             "is not what a suite writes with --json: unexpected end of JSON input; make it anew with suite --lock LOCK --json FILE",
		"[1":                           "is not what a suite writes with --json: ",
		"[]":                           "is not what a suite writes with --json: ",
		"{}":                           "is not what a suite writes with --json: it has no scenarios",
		"none":                         "no such file",
		`{"scenarios": [` + ran + `]}`: "does not say of which lock it is: it is of the library, or an older redlocksim wrote it",
		`{"lock": {"library": "redsync"}, "scenarios": [` + ran + `]}`:                                           "is of the lock redsync, and --lock is naive",
		`{"lock": {"library": "naive"}, "scenarios": [{"name": "a", "tier": "live"}]}`:                           "is of tier live, and --lock runs on tier program",
		`{"lock": {"library": "naive"}, "scenarios": [{"name": "09-contention", "tier": "program", "seed": 7}]}`: "has 09-contention with seed 7, and this runs it with 0",
		`{"lock": {"library": "naive", "version": "another"}, "generated_by": "x", "scenarios": [` + ran + `]}`:  "",
	} {
		s := &suite{lock: lock, baseline: filepath.Join(t.TempDir(), "base.json"), chosen: []chosen{{Scenario: contention}}}
		if text != "none" {
			if err := os.WriteFile(s.baseline, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := s.readBaseline(scenarios.Program)
		f := (*failure)(nil)
		switch {
		case want == "" && err != nil, want != "" && (!errors.As(err, &f) || f.code != exitUsage || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := (&suite{baseline: "x"}).readBaseline(scenarios.Model); err == nil || !strings.Contains(err.Error(), "name one with --lock") {
		t.Errorf("without a lock: %v", err)
	}
}

// The exit code is that of what is worse than the baseline, and of what is not tested any more.
func TestComparedCode(t *testing.T) {
	worse := func(g verdict.Grade) reports.Change { return reports.Change{Cause: verdict.Cause{Grade: g}} }
	for want, x := range map[exitcode.Code]*reports.Comparison{
		exitOK:        {Better: []reports.Change{worse(verdict.Weaker)}, New: []string{"a"}},
		exitSafety:    {Worse: []reports.Change{worse(verdict.BusyWaits), worse(verdict.Weaker)}, Gone: []string{"a"}},
		exitLiveness:  {Worse: []reports.Change{worse(verdict.LessAvailable)}},
		exitUsage:     {Worse: []reports.Change{worse(verdict.Weaker), worse(verdict.Failed)}},
		exitNotTested: {Gone: []string{"a"}},
	} {
		if got := comparedCode(x); got != want {
			t.Errorf("%+v: %d, want %d", x, got, want)
		}
	}
}
