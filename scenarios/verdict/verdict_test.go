package verdict_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/kernel"
)

// A run that is another one the second time is told of, with where it begins to differ. The lock here is another one in
// the second world that it is made for.
func TestARunThatDoesNotRepeatItself(t *testing.T) {
	s := scenarios.Catalogue()[0]
	made := 0
	locker := func(env protocols.Env) (protocols.Locker, error) {
		name := protocols.Name("redlock")
		if made++; made > len(s.Clients) {
			name = "single"
		}
		env.Settings = env.Settings.With(name)
		p, _ := protocols.Find(name)
		return p.New(env)
	}
	_, err := verdict.Verify(s, scenarios.Options{Foreign: &scenarios.Foreign{New: locker}})
	if !errors.Is(err, verdict.ErrNotRepeated) || !strings.Contains(err.Error(), `in the first run at`) {
		t.Errorf("Verify: %v", err)
	}
	first, err := scenarios.Run(s, scenarios.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := verdict.Again(s, scenarios.Options{Seed: 1}, first); err != nil {
		t.Errorf("the same: %v", err)
	}
	if err := verdict.Again(s, scenarios.Options{Seed: 2}, first); !errors.Is(err, verdict.ErrNotRepeated) || !strings.Contains(err.Error(), "seed 2") || !strings.Contains(err.Error(), "client-1 crash (") {
		t.Errorf("another seed: %v", err)
	}
}

// A lock that breaks a rule is broken, with nobody else there to suffer from it.
func TestAViolationNeedsNoContention(t *testing.T) {
	for name, want := range map[string]checker.Kind{"20-client-clock-steps-back/wall": checker.Unprotected, "20-client-clock-steps-back/monotonic": ""} {
		s := *scenariotest.Named(t, name)
		s.Timeline = slices.DeleteFunc(slices.Clone(s.Timeline), func(i scenarios.Item) bool { return i.Client == "client-2" })
		s.Expect = scenarios.Expect{Findings: scenarios.Findings{checker.Unprotected}, Unavailable: s.Expect.Unavailable}
		r := scenariotest.Judged(t, &s, scenarios.Options{})
		if isBroken := want != ""; r.OK() != isBroken || slices.Contains(r.Findings, want) != isBroken || (r.NotTested == nil) != isBroken {
			t.Errorf("%s: %v, not tested %q, %v", name, r.Findings, r.NotTested, r.Problems)
		}
		if got := r.Report.Shows(checker.Kind.Defect); (len(got) == 1 && got[0] == want) != (want != "") {
			t.Errorf("%s: a search would report %v", name, got)
		}
	}
}

// A finding of liveness is no matter of safety, whether it was expected or not.
func TestFindingsOfLiveness(t *testing.T) {
	const leaves = "90-failed-attempt-leaves-its-votes"
	for _, c := range []struct {
		name, scenario string
		expect         scenarios.Findings
		claim          scenarios.Claim
		want           []verdict.Class
	}{
		{"expected", leaves, scenarios.Findings{checker.Leftover}, scenarios.Unsound, nil},
		{"not expected", leaves, nil, scenarios.Holds, []verdict.Class{verdict.Liveness, verdict.Liveness}},
		{"missed", "13-split-votes", scenarios.Findings{checker.Leftover}, scenarios.Holds, []verdict.Class{verdict.Liveness}},
		{"instead of one of safety", leaves, scenarios.Findings{checker.LeaseOverlap}, scenarios.Unsound, []verdict.Class{verdict.Safety}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := *scenariotest.Named(t, c.scenario)
			s.Expect.Findings, s.Claim = c.expect, c.claim
			r := scenariotest.Judged(t, &s, scenarios.Options{})
			var classes []verdict.Class
			for _, p := range r.Problems {
				classes = append(classes, p.Class)
			}
			if !slices.Equal(classes, c.want) {
				t.Errorf("%v, want classes %v", r.Problems, c.want)
			}
		})
	}
}

// Faults beyond the budget excuse that two clients hold the lock at once, and not that one deletes what is another's.
func TestWhatFaultsExcuse(t *testing.T) {
	for _, c := range []struct {
		scenario string
		claim    scenarios.Claim
		want     string
	}{
		{"04-release-by-get-then-del", scenarios.Unsound, ""},
		{"04-release-by-get-then-del", scenarios.Holds, "the file claims that the lock holds, but no fault excuses this: breaks a promise (conduct"},
		{"17-clock-jump", scenarios.Holds, ""},
		{"17-clock-jump", scenarios.Unsound, "the file claims that the lock is unsound, but the faults exceed the budget: "},
	} {
		s := *scenariotest.Named(t, c.scenario)
		s.Claim, s.Budget = c.claim, faults.Budget{}
		r := scenariotest.Judged(t, &s, scenarios.Options{})
		if r.Beyond == nil || r.OK() != (c.want == "") || !r.OK() && !strings.HasPrefix(r.Problems[0].Text, c.want) {
			t.Errorf("%s, claimed to be %s: beyond %v, %v, want %q", c.scenario, c.claim, r.Beyond, r.Problems, c.want)
		}
		if !r.Excused(checker.LeaseOverlap) || r.Excused(checker.Conduct) == slices.Contains(r.Findings, checker.Conduct) {
			t.Errorf("%s: excused are lease-overlap: %v, conduct: %v", c.scenario, r.Excused(checker.LeaseOverlap), r.Excused(checker.Conduct))
		}
	}
}

// Faults excuse what is not over before they exceed the budget.
func TestWhatWasBeforeIsNotExcused(t *testing.T) {
	overlap := checker.Finding{Kind: checker.LeaseOverlap, From: 3, FromSeq: 7, To: 5, ToSeq: 9}
	endless := overlap
	endless.ToSeq = 0
	for _, c := range []struct {
		f        checker.Finding
		exceeded kernel.True
		want     bool
	}{
		{overlap, 4, false}, {overlap, 5, false}, {overlap, 6, true},
		{endless, 6, false},
		{overlap, 0, false}, // nobody knows when
	} {
		r := &verdict.Result{Scenario: &scenarios.Scenario{}, Outcome: &scenarios.Outcome{Exceeded: c.exceeded}, Beyond: []string{"a clock"},
			Report: checker.Report{Findings: []checker.Finding{c.f}}}
		if r.Inexcusable() != c.want || r.Excused(checker.LeaseOverlap) == c.want {
			t.Errorf("until %v, %d, exceeded from %v: inexcusable %v", c.f.To, c.f.ToSeq, c.exceeded, r.Inexcusable())
		}
	}
}
