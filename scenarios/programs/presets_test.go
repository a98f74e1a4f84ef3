package programs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// known are the cases in which the preset redsync shows something else than redsync: docs/lock-programs.md has them, each with
// what differs and why.
func known(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "lock-programs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The preset and the library\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)` \\| (.*?) \\| .{10,} \\|$").FindAllStringSubmatch(section, -1) {
		all[row[1]] = row[2]
	}
	if len(all) == 0 {
		t.Fatal("docs/lock-programs.md has no table of differences")
	}
	return all
}

// presetOf is a scenario with the preset in the place of its lock. It waits for as long as the program, which calls redsync
// again when that gives up, and what the scenario expects of the library's commands is nothing to it.
func presetOf(t *testing.T, s *scenarios.Scenario) *scenarios.Scenario {
	t.Helper()
	own := *s
	own.Lock = protocols.Default()
	lock := fmt.Sprintf("{preset: redsync, attempts: 0, ttl: %v, guard-time: %v, renewals: %d}", s.Lock.TTL, s.Lock.GuardTime, s.Lock.Renewals)
	if err := strictyaml.Decode("preset", []byte(lock), &own.Lock); err != nil {
		t.Fatal(err)
	}
	own.Expect.Commands = 0
	return &own
}

// patience is how much longer than the other a lock may not be had before that is a difference, as in the table of locks.
const patience = 2 * time.Second

// differ says in what the runs of a program and of a preset differ; empty if in nothing. Monitors look at no program to see
// whether a lease is protected and its promise kept, so that those findings of the preset are left out.
func differ(program, preset *scenarios.Result) string {
	seen := func(f scenarios.Findings) string {
		return scenarios.Findings(slices.DeleteFunc(slices.Clone(f), func(k checker.Kind) bool { return k == checker.Unprotected || k == checker.Contract })).String()
	}
	keys := func(all []scenarios.Leak) string { return fmt.Sprint(all) }
	var what []string
	if a, b := program.NotTested != nil, preset.NotTested != nil; a != b {
		what = append(what, map[bool]string{false: "tested, the preset not", true: "not tested, the preset is"}[a])
	}
	if a, b := seen(program.Findings), seen(preset.Findings); a != b {
		what = append(what, fmt.Sprintf("%s, the preset %s", a, b))
	}
	if keys(program.Leaks) != keys(preset.Leaks) {
		what = append(what, "keys without a time to live")
	}
	switch longer := program.Unavailable - preset.Unavailable; {
	case longer > patience:
		what = append(what, "unavailable for longer")
	case longer < -patience:
		what = append(what, "unavailable for a shorter time")
	}
	return strings.Join(what, "; ")
}

// telling are cases that show for how long go-redis waits over a connection that it has, and that it sends extends again: they
// are always compared.
var telling = []string{"10-two-nodes-crash", "54-slow-extend", "65-renewal-and-a-black-hole/black-hole", "65-renewal-and-a-black-hole/replies-only"}

// TestThePresetRedsync: the preset has the verdict of redsync itself in every case that applies, but for those that are known.
func TestThePresetRedsync(t *testing.T) {
	p := load(t, filepath.Join("..", "..", "locks", "redsync"))
	differences := known(t)
	var tested atomic.Int32
	sampled := shown(t)
	for _, s := range scenarios.Catalogue() {
		_, differs := differences[s.Name]
		if p.Unfit(s) != nil || !differs && !slices.Contains(telling, s.Name) && !slices.Contains(sampled, s) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			program, err := scenarios.Judge(s, scenarios.Options{Foreign: p.Foreign()})
			if err != nil {
				t.Fatal(err)
			}
			preset, err := scenarios.Judge(presetOf(t, s), scenarios.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if program.NotTested == nil && preset.NotTested == nil {
				tested.Add(1)
			}
			if got := differ(program, preset); got != differences[s.Name] {
				t.Errorf("redsync is %q, and docs/lock-programs.md says %q\nprogram: %s, %v\npreset: %s, %v, %q", got, differences[s.Name],
					program.Verdict(), program.Unavailable, preset.Verdict(), preset.Unavailable, preset.NotTested)
			}
		})
	}
	t.Cleanup(func() { // when the cases, which run in parallel, are over
		if n := int(tested.Load()); n < len(sampled)/4 {
			t.Errorf("only %d cases come to what they test with both", n)
		}
	})
	for name := range differences {
		if !slices.ContainsFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name && p.Unfit(s) == nil }) {
			t.Errorf("docs/lock-programs.md has a difference in %s, which is no case of redsync", name)
		}
	}
}
