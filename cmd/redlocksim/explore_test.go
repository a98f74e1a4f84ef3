package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
	"redlocksim/search/random"
)

// Violations count, also those that nobody had time to shrink, of which nobody knows whether they are findings of liveness.
func TestSearchVerdict(t *testing.T) {
	leftover, overlap := search.Finding{Kind: checker.Leftover}, search.Finding{Kind: checker.LeaseOverlap}
	unused := reach.Tally{Unused: []reach.Feature{reach.Fencing}}
	for name, c := range map[string]struct {
		s      random.Summary
		strict bool
		err    error
		want   int
	}{
		"nothing":                     {random.Summary{Runs: 9, BeyondViolations: 1}, true, nil, exitOK},
		"a finding":                   {random.Summary{Runs: 9, Violations: 1, Findings: search.Findings{overlap}}, false, nil, exitSafety},
		"interrupted at once":         {random.Summary{}, false, nil, exitNotTested},
		"liveness":                    {random.Summary{Runs: 9, Violations: 1, Findings: search.Findings{leftover}}, false, nil, exitLiveness},
		"both":                        {random.Summary{Runs: 9, Violations: 2, Findings: search.Findings{leftover, overlap}}, false, nil, exitSafety},
		"liveness, and dropped ones":  {random.Summary{Runs: 9, Violations: 2, Findings: search.Findings{leftover}, Unshrunk: 1}, false, nil, exitSafety},
		"liveness, and an unfinished": {random.Summary{Runs: 9, Violations: 1, Findings: search.Findings{leftover}, Unfinished: 1}, false, nil, exitSafety},
		"only an unfinished":          {random.Summary{Unfinished: 1}, false, nil, exitSafety},
		"unused":                      {random.Summary{Runs: 9, Tally: unused}, false, nil, exitOK},
		"unused, strictly":            {random.Summary{Runs: 9, Tally: unused}, true, nil, exitNotTested},
		"an error":                    {random.Summary{Runs: 9, Violations: 1}, false, errors.New("x"), exitInternal},
	} {
		if _, code := asked(func(cmd *cobra.Command) error { return searchVerdict(cmd, &c.s, c.strict, c.err) }); code != c.want {
			t.Errorf("%s: exit code %d, want %d", name, code, c.want)
		}
	}
}

// Without numbers a search makes ten thousand runs, and what contradicts itself is refused before anything is written.
func TestCheckSpace(t *testing.T) {
	for _, c := range []struct {
		o    random.Options
		runs int    // afterwards
		want string // of the error
	}{
		{random.Options{Dir: "d"}, 10_000, ""},
		{random.Options{Dir: "d", Runs: 7}, 7, ""},
		{random.Options{Dir: "d", For: time.Second}, 0, ""},
		{random.Options{Dir: "d", Runs: 7, For: time.Second}, 7, "--seeds and --for"},
		{random.Options{}, 0, "--dir: must not be empty"},
	} {
		err := checkSpace(&c.o, false)
		if f := failureOf(err); (err == nil) != (c.want == "") || f != nil && (f.code != exitUsage || !strings.Contains(f.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
		if c.o.Runs != c.runs {
			t.Errorf("%+v: want %d runs", c.o, c.runs)
		}
	}
}

// command is a process of the command.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// A search that is killed at any moment and resumed finds what one that was left alone finds, file by file.
func TestASearchSurvivesBeingKilled(t *testing.T) {
	t.Parallel() // with others that wait for processes
	const kills = 12
	args := func(dir string, more ...string) []string {
		return append([]string{"explore", "--beyond", "--seeds", "6", "--generation", "1", "--seed", "2", "--dir", dir}, more...)
	}
	left := filepath.Join(t.TempDir(), "left-alone")
	start := time.Now()
	if out, err := command(args(left)...).CombinedOutput(); err == nil {
		t.Fatalf("nothing found: %v\n%s", err, out)
	}
	took := time.Since(start)

	killed := filepath.Join(t.TempDir(), "killed")
	early := 0
	for range kills {
		cmd := command(args(killed, "--resume")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(took / 6))
		if cmd.Process.Kill() == nil {
			early++
		}
		_ = cmd.Wait() // it was killed
	}
	if early == 0 {
		t.Error("every run was over before it was killed")
	}
	if out, err := command(args(killed, "--resume")...).CombinedOutput(); err == nil {
		t.Fatalf("nothing found:\n%s", out)
	}
	want, got := contents(t, left), contents(t, killed)
	if !slices.EqualFunc(want, got, func(a, b content) bool { return a.name == b.name && bytes.Equal(a.data, b.data) }) {
		t.Errorf("the files differ: %d and %d", len(want), len(got))
		for _, f := range got {
			t.Logf("%s: %d bytes", f.name, len(f.data))
		}
	}
}

// A search that is interrupted while it has found something says so, with its exit code too.
func TestAnInterruptedSearchTellsWhatItFound(t *testing.T) {
	dir := t.TempDir()
	weak := filepath.Join(dir, "weak.yaml")
	if err := os.WriteFile(weak, []byte("lock: {ttl: 2s, drift: {factor: 0%, constant: 2ms}}\nbudget: {clock-rate: 20%}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	cmd := command("explore", weak, "--seeds", "1000000", "--generation", "1000000", "--dir", out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // it is over, unless the test failed
	for found := []string(nil); len(found) == 0; {
		found, _ = filepath.Glob(filepath.Join(out, "raw-*.yaml")) // the pattern is right
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	exit := (*exec.ExitError)(nil)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitSafety {
		t.Errorf("%v\n%s", err, &said)
	}
	for _, text := range []string{"more runs broke the lock", filepath.Join(out, "raw-*.yaml"), "with --resume to continue"} {
		if !strings.Contains(said.String(), text) {
			t.Errorf("no %q in\n%s", text, &said)
		}
	}
}

type content struct {
	name string
	data []byte
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) []content {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []content
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content{e.Name(), data})
	}
	return all
}
