//go:build linux

package soak

import (
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/built"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// asClient is the environment variable that makes the test binary a client process.
const asClient = "REDLOCKSIM_TEST_AS_LIVE_CLIENT"

func TestMain(m *testing.M) {
	if os.Getenv(asClient) == "" {
		os.Exit(livetest.Main(m))
	}
	if live.Client(os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
}

// short is a soak of one round.
func short(s *scenarios.Scenario, round time.Duration) Options {
	return Options{Settings: s, Duration: round, Round: round, Clients: 4, Goroutines: 4, Locks: 4,
		Live: live.Options{Client: []string{"/usr/bin/env", asClient + "=1", os.Args[0]}}}
}

func TestSoak(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	r, err := Run(t.Context(), short(nil, 5*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if r.Has(verdict.Safety) || r.Has(verdict.Liveness) {
		t.Error(r)
	}
	if !r.Has(verdict.NotTested) && (r.Grants < 50 || len(r.Injected) < 3 || r.Recovery == 0) {
		t.Errorf("too little happened:\n%v", r)
	}
}

// A lock that two can hold at once is seen through.
func TestSoakSeesABadLock(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	o := short(nil, 2*time.Second)
	o.Live.Lock, o.Live.IsProtocol, o.Locks = []string{built.Program(t, "testdata/grants")}, true, 1
	r, err := Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Has(verdict.Safety) {
		t.Error(r)
	}
	report, err := checker.Check(r.History, checker.Options{})
	if err != nil || !slices.ContainsFunc(report.Findings, func(f checker.Finding) bool { return f.Kind == checker.LeaseOverlap }) {
		t.Errorf("the history that is kept shows %v, %v", report.Findings, err)
	}
}

// A round is a scenario as any other: a file says all of it, and in the simulator, too, it finds nothing.
func TestRoundsAreScenarios(t *testing.T) {
	o := short(Default(), 5*time.Second)
	s := o.scenario(1)
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := scenarios.Parse("round-1.yaml", text); err != nil || len(again) != 1 || len(again[0].Timeline) != len(s.Timeline) {
		t.Errorf("%v: %s", err, text)
	}
	if !reflect.DeepEqual(o.scenario(1), s) || reflect.DeepEqual(o.scenario(2).Timeline, s.Timeline) {
		t.Error("a round is not drawn from the seed and its number")
	}
	if err := live.Unfit(s, live.Options{}); err != nil {
		t.Error(err)
	}
	judged := scenariotest.Judged(t, s, scenarios.Options{})
	r := &Result{Injected: map[string]int{}, Within: takeableWithin(s)}
	if r.add(judged); !r.OK() || r.Recovery == 0 {
		t.Error(r)
	}
	r.Within = r.Recovery - 1 // what is found then is a problem
	if r.add(judged); !r.Has(verdict.Liveness) {
		t.Errorf("a lock may be asked for for %v: %v", r.Within, r)
	}
	over := s.Timeline[len(s.Timeline)-1].When.At
	judged.History = slices.DeleteFunc(slices.Clone(judged.History), func(e history.Event) bool { return time.Duration(e.Time) >= over })
	early := &Result{Injected: map[string]int{}, Within: takeableWithin(s)}
	if early.add(judged); !early.Has(verdict.NotTested) {
		t.Errorf("nobody asks when the faults have ended, and that is tested: %v", early)
	}
}
