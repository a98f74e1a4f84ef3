package programs_test

import (
	"context"
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

// rows are those of the table in a section of docs/lock-programs.md, by the name of the case: what the other two
// columns say.
func rows(t *testing.T, section string) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "lock-programs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, found, _ := strings.Cut(string(text), "\n## "+section+"\n")
	found, _, _ = strings.Cut(found, "\n## ")
	all := map[string][2]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)` \\| (.*?) \\| (.*) \\|$").FindAllStringSubmatch(found, -1) {
		all[row[1]] = [2]string{row[2], row[3]}
	}
	if len(all) == 0 {
		t.Fatalf("docs/lock-programs.md has no table of differences under %q", section)
	}
	return all
}

// known are the cases in which the preset redsync shows something else than redsync: docs/lock-programs.md has them, each with
// what differs and why.
func known(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, row := range rows(t, "The preset and the library") {
		if len(row[1]) < 10 {
			t.Errorf("docs/lock-programs.md does not say why redsync differs in %s", name)
		}
		all[name] = row[0]
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

// seen are the findings of a preset that a program can have, too. Monitors look at no program to see whether a lease is
// protected and its promise kept.
func seen(f scenarios.Findings) string {
	return scenarios.Findings(slices.DeleteFunc(slices.Clone(f), func(k checker.Kind) bool { return k == checker.Unprotected || k == checker.Contract })).String()
}

// differ says in what the runs of a program and of a preset differ; empty if in nothing.
func differ(program, preset *scenarios.Result) string {
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

// callAgain is a lock whose caller calls it again when it has given up, as long as there is time.
type callAgain struct{ protocols.Locker }

func (c callAgain) Lock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	for {
		l, err := c.Locker.Lock(ctx, resource, ttl)
		if err == nil || ctx.Err() != nil {
			return l, err
		}
	}
}

// TestThePresetNodeRedlock: one call of the preset gives up where the library, which its program calls again, and the preset
// that is called again have the lock in the end.
func TestThePresetNodeRedlock(t *testing.T) {
	again := &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find(env.Settings.Protocol)
		l, err := p.New(env)
		return callAgain{l}, err
	}}
	for name, want := range rows(t, "The preset node-redlock") {
		i := slices.IndexFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name })
		if i < 0 {
			t.Errorf("there is no case %s", name)
			continue
		}
		own := *scenarios.Catalogue()[i]
		own.Lock = protocols.Default()
		if err := strictyaml.Decode("preset", fmt.Appendf(nil, "{preset: node-redlock, ttl: %v}", scenarios.Catalogue()[i].Lock.TTL), &own.Lock); err != nil {
			t.Fatal(err)
		}
		for column, foreign := range []*scenarios.Foreign{nil, again} {
			r, err := scenarios.Judge(&own, scenarios.Options{Foreign: foreign})
			if err != nil {
				t.Fatal(err)
			}
			if got := seen(r.Findings); got != want[column] {
				t.Errorf("%s, in column %d: %s, and docs/lock-programs.md says %s", name, column+1, got, want[column])
			}
		}
	}
}

// A key that somebody's lock leaves without a time to live is no double holder: its class is the one that its grade says.
func TestAKeyThatIsLeftIsNoDoubleHolder(t *testing.T) {
	foreign := &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find(env.Settings.Protocol)
		return p.New(env)
	}}
	s := *scenarios.Catalogue()[slices.IndexFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == "01-setnx-then-expire/a-minute" })]
	s.Claim, s.Expect.Leaks, s.Expect.Grants = scenarios.Holds, nil, nil
	s.Timeline = slices.Clone(s.Timeline)
	s.Timeline[0].When.At = time.Second
	granted := scenarios.Item{Client: "client-2", Do: []scenarios.Step{{Kind: scenarios.TryLockStep}, {Kind: scenarios.UnlockStep}}, Repeat: 1}
	s.Timeline = append(s.Timeline, granted) // or nothing would be tested
	r, err := scenarios.Judge(&s, scenarios.Options{Foreign: foreign})
	if err != nil || len(r.Leaks) != 1 || !slices.Contains(r.Grades(), scenarios.LeavesKeys) || r.Has(scenarios.Safety) || !r.Has(scenarios.Liveness) {
		t.Errorf("%v, %v, %v, %v", err, r.Leaks, r.Grades(), r.Problems)
	}
}
