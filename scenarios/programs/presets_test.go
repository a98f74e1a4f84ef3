package programs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// known are the cases in which the preset redsync shows something else than redsync, what differs, and why.
var known = map[string]string{
	// The partition meets the preset's client in the middle of an attempt. It waits 5 s for the last answer and then has
	// the lock. redsync, which takes longer to connect at first, is between two attempts.
	"11-three-nodes-unreachable": "unavailable for longer",
	// No node's reply arrives, so that redsync's first client cannot connect and sends nothing. Connecting is not modelled,
	// so the preset's leaves its keys behind.
	"31-slow-acquire/delayed-replies": "unavailable for a shorter time",
	// When a call's context ends during an attempt, redsync cleans up with the same context, which removes nothing. The
	// preset gives up between attempts.
	"73-waiting-in-one-client/contention": "leftover, the preset safe",
	// The preset's extend does not look at its context, so that it does not fail.
	"80-contexts-that-end/extend-after": "tested, the preset not",
	// As in extend-after.
	"80-contexts-that-end/extend-meanwhile": "tested, the preset not",
	// An unlock whose context is over fails and removes no keys. The preset's does not look at its context.
	"80-contexts-that-end/unlock-after": "tested, the preset not; leftover, the preset safe",
	// redsync sets its key on C, which forbids EVAL, and cannot release it there. What a server forbids is modelled for
	// protocol redlock alone.
	"115-commands-in-place-of-scripts/several-ttls": "leftover, the preset safe; unavailable for longer",
	// The case leaves no room, and a program's look at its clock takes a nanosecond.
	"boundaries/pause-holds": "stale-write, the preset accepted-after-expiry",
}

// calls are cases in which the lock is taken for longer than the two seconds of a call of node-redlock: what one call
// of the preset shows, and what the preset that is called again does, as node-redlock. The table of locks may have
// case 43 as safe all the same: tier live plays it five times as fast, and the library's delays between attempts stay
// as long as they are. In a copy of the scenario with live: {speed: 1} it shows the overlap.
var calls = map[string][2]string{
	"26-restart-too-early/too-short":    {"safe", "lease-overlap"},
	"26-restart-too-early/clock-jumped": {"safe", "lease-overlap"},
	"43-extend-only-holder/at-once":     {"safe", "lease-overlap"},
	"43-extend-only-holder/delayed":     {"safe", "safe"},
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
func differ(program, preset *verdict.Result) string {
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
	var tested atomic.Int32
	sampled := shown(t)
	for _, s := range scenarios.Catalogue() {
		_, differs := known[s.Name]
		if p.Unfit(s) != nil || !differs && !slices.Contains(telling, s.Name) && !slices.Contains(sampled, s) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			program := scenariotest.Judged(t, s, scenarios.Options{Foreign: p.Foreign()})
			preset := scenariotest.Judged(t, presetOf(t, s), scenarios.Options{})
			if program.NotTested == nil && preset.NotTested == nil {
				tested.Add(1)
			}
			if got := differ(program, preset); got != known[s.Name] {
				t.Errorf("redsync is %q, want %q\nprogram: %s, %v\npreset: %s, %v, %q", got, known[s.Name],
					program.Verdict(), program.Unavailable, preset.Verdict(), preset.Unavailable, preset.NotTested)
			}
		})
	}
	t.Cleanup(func() { // when the cases, which run in parallel, are over
		if n := int(tested.Load()); n < len(sampled)/4 {
			t.Errorf("only %d cases come to what they test with both", n)
		}
	})
	for name := range known {
		if !slices.ContainsFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name && p.Unfit(s) == nil }) {
			t.Errorf("%s, where redsync is to differ, is no case of it", name)
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
	for name, want := range calls {
		own := *scenariotest.Named(t, name)
		lock := fmt.Sprintf("{preset: node-redlock, ttl: %v}", own.Lock.TTL)
		own.Lock = protocols.Default()
		if err := strictyaml.Decode("preset", []byte(lock), &own.Lock); err != nil {
			t.Fatal(err)
		}
		for column, foreign := range []*scenarios.Foreign{nil, again} {
			r := scenariotest.Judged(t, &own, scenarios.Options{Foreign: foreign})
			if got := seen(r.Findings); got != want[column] {
				t.Errorf("%s, in column %d: %s, want %s", name, column+1, got, want[column])
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
	s := *scenariotest.Named(t, "01-setnx-then-expire/a-minute")
	s.Claim, s.Expect.Leaks, s.Expect.Grants = scenarios.Holds, nil, nil
	s.Timeline = slices.Clone(s.Timeline)
	s.Timeline[0].When.At = time.Second
	granted := scenarios.Item{Client: "client-2", Do: []scenarios.Step{{Kind: scenarios.TryLockStep}, {Kind: scenarios.UnlockStep}}, Repeat: 1}
	s.Timeline = append(s.Timeline, granted) // or nothing would be tested
	r, err := verdict.Judge(&s, scenarios.Options{Foreign: foreign})
	if err != nil || len(r.Leaks) != 1 || !slices.Contains(r.Grades(), verdict.LeavesKeys) || r.Has(verdict.Safety) || !r.Has(verdict.Liveness) {
		t.Errorf("%v, %v, %v, %v", err, r.Leaks, r.Grades(), r.Problems)
	}
}
