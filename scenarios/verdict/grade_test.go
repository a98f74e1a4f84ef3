package verdict_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// never is a lock that nobody is granted.
type never struct{ protocols.Env }

func (n never) Lock(ctx context.Context, _ string, _ time.Duration) (protocols.Lease, error) {
	n.Sleep(ctx, time.Hour)
	return nil, ctx.Err()
}

func (never) TryLock(context.Context, string, time.Duration) (protocols.Lease, error) {
	return nil, errors.New("taken")
}

// How long others wait for a lock that renews itself is up to its holder, but here nobody holds it.
func TestARenewingLockThatNobodyIsGranted(t *testing.T) {
	r, err := verdict.Judge(scenariotest.Named(t, "10-two-nodes-crash"), scenarios.Options{Foreign: &scenarios.Foreign{
		Name: "never", IsProgram: true, Renews: true, New: func(env protocols.Env) (protocols.Locker, error) { return never{env}, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	if g := r.Grades(); !slices.Equal(g, []verdict.Grade{verdict.LessAvailable}) {
		t.Errorf("%v", g)
	}
}

// What is wrong with somebody's lock is said once, with what it is compared with: what a sound Redlock shows or, in a file
// about that lock, what the file expects.
func TestWhatSomebodysLockIsComparedWith(t *testing.T) {
	careful := *scenariotest.Named(t, "03-release-by-del/overlong-work")
	protocols.Change(&careful.Lock, func(own *protocols.ReleaseSettings) { own.Release = protocols.CompareAndDelete })
	careful.Claim, careful.Expect.Findings = scenarios.Holds, nil
	aboutIt := careful
	aboutIt.Theme = scenarios.Own
	tidy := *scenariotest.Named(t, "01-setnx-then-expire/a-minute")
	tidy.Claim, tidy.Expect.Leaks = scenarios.Holds, nil
	careless := func(env protocols.Env) (protocols.Locker, error) {
		protocols.Change(&env.Settings, func(own *protocols.ReleaseSettings) { own.Release = protocols.Del })
		p, _ := protocols.Find(env.Settings.Protocol)
		return p.New(env)
	}
	for _, c := range []struct {
		s    *scenarios.Scenario
		want []string
	}{
		{&careful, []string{"two holders (lease-overlap), breaks a promise (conduct, contract); a sound Redlock under the same faults: holds"}},
		{&aboutIt, []string{"two holders (lease-overlap), breaks a promise (conduct, contract); the file expects: holds"}},
		{&tidy, []string{"keys without a time to live: R; a sound Redlock under the same faults: none"}},
	} {
		r := scenariotest.Judged(t, c.s, scenarios.Options{Foreign: &scenarios.Foreign{New: careless}})
		var got []string
		for _, p := range r.Problems {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.s.Name, got, c.want)
		}
	}
}

// A run that the machine held up has no grade, whatever it showed.
func TestNoGradeOfARunThatDoesNotCount(t *testing.T) {
	s := scenariotest.Named(t, "32-pause-before-write")
	out := scenariotest.Ran(t, s, scenarios.Options{})
	r, err := verdict.JudgeLive(s, out, &scenarios.Foreign{IsProgram: true})
	if err != nil {
		t.Fatal(err)
	}
	if g := r.Grades(); !slices.Equal(g, []verdict.Grade{verdict.AsSound}) || r.Witness() == nil {
		t.Fatalf("%v, %v", g, r.Findings)
	}
	r.Longer = time.Minute // which a run that does not count says nothing of
	r.SetDisturbed("the machine is too busy")
	if g := r.Grades(); !slices.Equal(g, []verdict.Grade{verdict.NotApplicable}) {
		t.Errorf("%v", g)
	}
}
