package why_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/reports/why"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
)

func of(t *testing.T, name string) *why.Explanation {
	t.Helper()
	return explained(t, scenariotest.Named(t, name), why.Options{Confirm: 1})
}

func explained(t *testing.T, s *scenarios.Scenario, o why.Options) *why.Explanation {
	t.Helper()
	x, err := why.Of(context.Background(), scenariotest.Judged(t, s, scenarios.Options{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What the literature says helps is found to help, and what it says does not is not.
func TestPreventionAsInTheLiterature(t *testing.T) {
	for _, c := range []struct {
		name, wrong    string
		helps, doesNot []string // by the kinds of changes
	}{
		// Redis documentation: delayed restarts, fsync=always. Kleppmann: tokens do nothing for the lock itself.
		{"24-restart-at-once/one-of-three", "two holders (lease-overlap)", []string{"guard", "restart", "nodes.persistence"}, []string{"fencing", "drift", "clients"}},
		// 18.2 % of the time to live for clocks that are wrong by 10 % both.
		{"22-clock-rates/not-covered", "two holders (lease-overlap)", []string{"drift"}, []string{"fencing", "guard", "nodes.persistence"}},
		// Kleppmann: nothing in the lock helps against a pause before the write, and fencing does.
		{"32-pause-before-write", "late write (stale-write)", []string{"fencing"}, []string{"guard", "drift", "quorum", "clients", "lock.clock"}},
		// Unless the pause is short, and the client has it in reserve.
		{"76-guard-time/without", "late write (stale-write)", []string{"guard-time", "fencing", "drift"}, []string{"guard", "quorum", "lock.clock"}},
		// antirez: a monotonic clock.
		{"20-client-clock-steps-back/wall", "two holders (lease-overlap)", []string{"lock.clock", "library"}, []string{"fencing", "guard"}},
		// A wall clock of a node is not the library's to mend.
		{"17-clock-jump", "two holders (lease-overlap)", nil, []string{"fencing", "drift", "lock.clock", "library"}},
		// Compare and delete, which makes the late release fail.
		{"03-release-by-del/overlong-work", "two holders (lease-overlap)", []string{"lock.release"}, []string{"drift", "guard"}},
		// Redis documentation: to release what an attempt got that failed.
		{"90-failed-attempt-leaves-its-votes", "leaks (leftover)", []string{"lock.cleanup", "library"}, []string{"drift", "lock.release"}},
		// An extension on a quorum.
		{"40-careless-renewal/one-node", "two holders (lease-overlap)", []string{"lock.extending"}, []string{"fencing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := of(t, c.name)
			if x.Wrong != c.wrong {
				t.Fatalf("wrong: %q, want %q", x.Wrong, c.wrong)
			}
			helps := map[string]bool{}
			for _, tried := range x.Tried {
				if tried.Status == why.Prevents {
					helps[tried.Name] = true
				}
			}
			for _, kind := range c.helps {
				if !helps[kind] {
					t.Errorf("%s does not help, and should", kind)
				}
			}
			for _, kind := range c.doesNot {
				if helps[kind] {
					t.Errorf("%s helps, and should not", kind)
				}
			}
		})
	}
}

// A file with a change that helps says so itself: it is read back, and is as expected with the seeds and tiers of which
// the explanation speaks.
func TestWhatPreventsItRunsAsExpected(t *testing.T) {
	for _, name := range []string{"24-restart-at-once/one-of-three", "32-pause-before-write", "03-release-by-del/overlong-work"} {
		for _, tried := range of(t, name).Tried {
			if tried.Status != why.Prevents {
				if tried.Scenario != nil {
					t.Errorf("%s, %s: does not help, and has a scenario", name, tried.What())
				}
				continue
			}
			text, err := tried.Scenario.Encode()
			if err != nil {
				t.Fatal(err)
			}
			found, warnings, err := scenarios.Lint("prevented.yaml", text)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s, %s: %v, %v\n%s", name, tried.What(), warnings, err, text)
			}
			for _, o := range []scenarios.Options{{}, {Seed: 1}, {Tier: scenarios.Wire}} {
				r, err := verdict.Judge(found[0], o)
				if err != nil {
					t.Fatal(err)
				}
				if !r.OK() || r.Witness() != nil {
					t.Errorf("%s, %s, %+v: %v\n%s", name, tried.What(), o, r.Problems, text)
				}
			}
			for _, k := range tried.Keys {
				last := k.Path[strings.LastIndex(k.Path, ".")+1:]
				if k.To != "" && !strings.HasSuffix(last, "]") && !strings.Contains(string(text), last+": ") {
					t.Errorf("%s, %s: %v is not in the file\n%s", name, tried.What(), k, text)
				}
			}
		}
	}
}

// A number is the least that prevents it: with a millisecond less it happens all the same, in one of the runs of which the
// explanation speaks.
func TestLeast(t *testing.T) {
	for name, kinds := range map[string][]string{"22-clock-rates/not-covered": {"drift"}, "76-guard-time/without": {"guard-time", "drift"}, "32-pause-before-write": {"ttl"}} {
		s := scenariotest.Named(t, name)
		x := explained(t, s, why.Options{Confirm: 1})
		for _, kind := range kinds {
			i := slices.IndexFunc(x.Tried, func(tried why.Tried) bool { return tried.Name == kind && tried.Status == why.Prevents })
			if i < 0 {
				t.Fatalf("%s: %s does not help", name, kind)
			}
			least, err := time.ParseDuration(x.Tried[i].Value)
			if err != nil || !strings.Contains(x.Tried[i].What(), x.Tried[i].Value) {
				t.Fatalf("%s: %v, %q", name, err, x.Tried[i].What())
			}
			f, err := variant.Of(s)
			if err != nil {
				t.Fatal(err)
			}
			if f, err = f.With(variant.Setting{Path: x.Tried[i].Path, Word: (least - time.Millisecond).String()}); err != nil {
				t.Fatal(err)
			}
			less, err := f.Scenario()
			if err != nil {
				t.Fatal(err)
			}
			less.Name = s.Name
			if !slices.ContainsFunc([]scenarios.Options{{}, {Seed: 1}, {Tier: scenarios.Wire}}, func(o scenarios.Options) bool {
				return scenariotest.Judged(t, less, o).Witness() != nil
			}) {
				t.Errorf("%s: less than %v is enough of %s", name, least, kind)
			}
		}
	}
}

// A rule that is broken is explained by the checker's finding, one that holds by what happened.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name string
		kind checker.Kind
		want string
	}{
		{"17-clock-jump", checker.LeaseOverlap, "both held"},
		{"17-clock-jump", checker.StaleWrite, "nobody wrote to the resource"},
		{"17-clock-jump", checker.TokenRegressed, "no tokens were drawn"},
		{"32-pause-before-write", checker.LeaseOverlap, "the lock was held 2 times, and never by two at once"},
		{"32-pause-before-write", checker.StaleWrite, "after its lease (grant 1) had ended"},
		{"34-fencing/paused", checker.StaleWrite, "it rejected 1"},
		{"34-fencing/paused", checker.TokenRepeated, "2 tokens were drawn, no two the same"},
		{"35-fencing-and-reads/reads-unchecked", checker.LostUpdate, ""},
		{"17-clock-jump", checker.Unprotected, "would grant it to another: its key ran out on C and was never set on D and E"},
		{"09-contention", checker.Unprotected, "never have granted it to another"},
		{"02-get-then-set", checker.Unprotected, "nodes do not vote"},
		{"09-contention", checker.Conduct, "none changed another's key"},
		{"09-contention", checker.Contract, "is what the nodes bear out"},
		{"09-contention", checker.Refinement, "steps, and the specification allows each"},
		{"09-contention", checker.Leftover, "were gone soon"},
		{"09-contention", checker.NeedlesslyUnavailable, "found none that had asked for longer"},
		{"02-get-then-set", checker.Conduct, "client-2 changes the key of client-1 on A. The nodes carry out whatever"},
		{"02-get-then-set", checker.Refinement, "the specification followed no step"},
		{"40-careless-renewal/from-replies", checker.Contract, "it takes one more client"},
		{"90-failed-attempt-leaves-its-votes", checker.Leftover, "still stands on C. Client and node were up"},
	} {
		x := of(t, c.name)
		i := slices.IndexFunc(x.Rules, func(r why.Rule) bool { return r.Kind == c.kind })
		if i < 0 || !strings.Contains(x.Rules[i].Why, c.want) || x.Rules[i].Why == "" {
			t.Errorf("%s, %s: %+v, want %q", c.name, c.kind, x.Rules[max(i, 0)], c.want)
		}
		for _, rule := range x.Rules {
			found := slices.ContainsFunc(x.Result.Report.Findings, func(f checker.Finding) bool { return f.Kind == rule.Kind })
			if (rule.Finding != nil) != found {
				t.Errorf("%s: %s has a finding: %v, and the checker's: %v", c.name, rule.Kind, rule.Finding != nil, found)
			}
		}
	}
}

// What keeps a scenario from coming to its point does not prevent anything, and what does is seen with every seed and on
// the other tier.
func TestWhatCountsAsPrevention(t *testing.T) {
	x := explained(t, scenariotest.Named(t, "04-release-by-get-then-del"), why.Options{Confirm: 2})
	moot := 0
	for _, tried := range x.Tried {
		switch tried.Status {
		case why.Prevents:
			if tried.Runs != 4 || tried.Scenario == nil || tried.Grants == 0 {
				t.Errorf("%s: %d runs, %d grants", tried.What(), tried.Runs, tried.Grants)
			}
		case why.Moot:
			if moot++; tried.Name != "library" && !strings.Contains(tried.Why, "compared: the moment never came") {
				t.Errorf("%s: %s", tried.What(), tried.Why)
			}
		}
	}
	// A client that does not compare and delete in two steps cannot be stopped between them.
	if moot < 2 {
		t.Errorf("%d changes are moot", moot)
	}
	if x.Without == 0 {
		t.Error("every setting makes a difference, also those that the protocol does not have")
	}
}

// Where the library has not even the event that the scenario waits for, that is said.
func TestEventsThatTheLibraryDoesNotHave(t *testing.T) {
	x := of(t, "01-setnx-then-expire/a-minute")
	i := slices.IndexFunc(x.Tried, func(tried why.Tried) bool { return tried.Name == "library" })
	if i < 0 || x.Tried[i].Status != why.Moot || !strings.Contains(x.Tried[i].Why, `there is no such event "set-without-ttl"`) {
		t.Errorf("%+v", x.Tried)
	}
}

// Where nothing is wrong nothing is tried, and an interrupt ends it.
func TestWhatIsTried(t *testing.T) {
	if x := of(t, "25-restart-delayed"); x.Wrong != "" || len(x.Tried) > 0 {
		t.Errorf("%q, %d changes were tried", x.Wrong, len(x.Tried))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := why.Of(ctx, scenariotest.Judged(t, scenariotest.Named(t, "17-clock-jump"), scenarios.Options{}), why.Options{}); err == nil {
		t.Error("goes on when it is told to stop")
	}
}
