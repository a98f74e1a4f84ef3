package verdict_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// A suite that is interrupted has no results.
func TestAnInterruptedSuite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err := verdict.Suite(ctx, scenarios.Catalogue()[:2], scenarios.Tiers(), nil, scenarios.Options{}, nil)
	if results != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", results, err)
	}
}

// One that had run all when it was interrupted has them.
func TestASuiteThatIsInterruptedAtItsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := scenarios.Catalogue()[:2]
	ran := 0
	results, err := verdict.Suite(ctx, all, scenarios.Tiers(), nil, scenarios.Options{}, func(int, time.Duration) {
		if ran++; ran == len(all)*len(scenarios.Tiers()) {
			cancel()
		}
	})
	if len(results) != ran || err != nil {
		t.Errorf("%d results of %d, %v", len(results), ran, err)
	}
}

// A run that panics ends no suite: it has a result, which says what it was made with and where it panicked, and so have the
// others.
func TestASuiteWithARunThatPanics(t *testing.T) {
	all := append([]*scenarios.Scenario{panicking()}, scenarios.Catalogue()[:2]...)
	seed := uint64(7)
	results, err := verdict.Suite(t.Context(), all, scenarios.Tiers(), &seed, scenarios.Options{}, nil)
	if len(results) != len(all)*2 || err != nil {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		of, failed := errors.AsType[*scenarios.RunError](r.Err)
		switch {
		case i >= 2 && !r.OK():
			t.Errorf("%s on %s: %v", r.Scenario.Name, r.Tier, r.Problems)
		case i >= 2:
		case !failed || of.Tier != scenarios.Tiers()[i] || of.Seed != 7 || of.Scenario != all[0]:
			t.Errorf("%v", r.Err)
		case !r.Lost() || r.Verdict() != verdict.NotJudged || r.Says() != verdict.NotJudged || r.Ending() != "FAILED":
			t.Errorf("%s, %s, %s", r.Verdict(), r.Says(), r.Ending())
		case !strings.Contains(r.Err.Error(), "\n") || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "seed 7: panic: ") || strings.Contains(r.Problems[0].Text, "\n"):
			t.Errorf("%v\n%v", r.Err, r.Problems)
		}
	}
}

// panicking is a scenario with a fault that panics.
func panicking() *scenarios.Scenario {
	s := *scenarios.Catalogue()[0]
	s.Name = "at-sea"
	s.Timeline = append(slices.Clone(s.Timeline), scenarios.Item{Kind: "kill", Fault: (*faults.Kill)(nil)})
	return &s
}

// A lock of somebody's own that says more to a node on one tier has that as a problem, although its clients are told the same.
func TestASuiteInWhichALockSaysMoreOnATier(t *testing.T) {
	s := scenariotest.Given(t, "lock: {protocol: single}\nnodes: {names: [A]}")
	lock := &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find(env.Settings.Protocol)
		l, err := p.New(env)
		return talkative{l, env.Nodes()[0]}, err
	}}
	results, err := verdict.Suite(t.Context(), []*scenarios.Scenario{s}, scenarios.Tiers(), nil, scenarios.Options{Foreign: lock}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "what passes between them and the nodes differs: on tier model at "
	if r := results[1]; len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, want) || !strings.Contains(r.Problems[0].Text, "uncalled-for") {
		t.Errorf("%v", r.Problems)
	}
}

// talkative is a lock that releases a key on tier wire that nobody has.
type talkative struct {
	protocols.Locker
	node driver.Node
}

func (l talkative) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	if under := reflect.ValueOf(l.node).Elem().FieldByName("Node").Elem(); strings.HasPrefix(under.Type().String(), "*wire.") {
		l.node.Do([]*driver.Command{{Op: driver.OpRelease, Keys: []string{"uncalled-for"}, Value: "x", Done: func(*driver.Command, driver.Reply) {}}})
	}
	return l.Locker.TryLock(ctx, resource, ttl)
}
