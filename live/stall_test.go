//go:build linux

package live

import (
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/storage"
)

// A run that is not as expected counts unless the machine held it up, and in any case if no delay excuses what it shows.
func TestUntilUndisturbed(t *testing.T) {
	type run struct {
		findings []checker.Kind
		stalled  time.Duration
	}
	const little, much = 0, time.Second
	expected := []checker.Kind{checker.StaleWrite}
	for _, test := range []struct {
		name  string
		runs  []run
		count int // how many are made
		kind  storage.Kind
		// notTested: none counts, and what they show is no verdict.
		notTested bool
	}{
		{name: "as expected", runs: []run{{expected, little}}, count: 1},
		{name: "as expected, and held up", runs: []run{{expected, much}}, count: 1},
		{name: "another finding", runs: []run{{nil, little}}, count: 1},
		{name: "another finding, and held up", runs: []run{{nil, much}, {expected, little}}, count: 2},
		{name: "held up, then another finding", runs: []run{{nil, much}, {nil, little}}, count: 2},
		{name: "always held up", runs: []run{{nil, much}, {nil, much}, {nil, much}, {nil, much}, {nil, much}}, count: 5, notTested: true},
		{name: "two holders, and held up", runs: []run{{[]checker.Kind{checker.LeaseOverlap}, much}}, count: 1},
		{name: "a fence that lets all pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much}}, count: 1, kind: storage.Fenced},
		{name: "one that lets writes pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much}}, count: 1, kind: storage.FencedWrites},
		{name: "tokens out of order, and held up", runs: []run{{[]checker.Kind{checker.TokenRegressed, checker.StaleWrite}, much}}, count: 1},
	} {
		speeds := slowing(5)
		var made []int
		told := 0
		expected := expected
		if test.kind != storage.Register {
			expected = nil
		}
		again := func(r *scenarios.Result, heldUp time.Duration) {
			if told++; r.OK() || heldUp != much {
				t.Errorf("%s: told of a run with %v, held up for %v", test.name, r.Findings, heldUp)
			}
		}
		r, err := untilUndisturbed(speeds[:], again, func(speed int) (*scenarios.Result, time.Duration, error) {
			run := test.runs[len(made)]
			made = append(made, speed)
			r := &scenarios.Result{Scenario: &scenarios.Scenario{Expect: scenarios.Expect{Findings: expected}}, Findings: run.findings}
			r.Scenario.Storage = test.kind
			if !slices.Equal(run.findings, expected) {
				r.Problems = []scenarios.Problem{{Class: scenarios.Safety, Text: "another"}}
			}
			return r, run.stalled, nil
		})
		if err != nil || !slices.Equal(made, []int{5, 3, 1, 1, 1}[:test.count]) {
			t.Errorf("%s: runs at speeds %v, %v; want %d", test.name, made, err, test.count)
		}
		if isTested := r.NotTested == nil && !r.Has(scenarios.NotTested); isTested == test.notTested || test.notTested && (r.Has(scenarios.Safety) || r.OK()) {
			t.Errorf("%s: problems %v, not tested: %v", test.name, r.Problems, r.NotTested)
		}
		if told != test.count-1 {
			t.Errorf("%s: told of %d runs that do not count, want %d", test.name, told, test.count-1)
		}
		if last := test.runs[len(test.runs)-1]; slices.Equal(last.findings, expected) != r.OK() {
			t.Errorf("%s: problems %v of a run with %v", test.name, r.Problems, last.findings)
		}
	}
}

func TestStalls(t *testing.T) {
	p := stall.Start()
	p.Stop()
	for _, test := range []struct {
		due, free, began, ended time.Duration
		want                    time.Duration
	}{
		{due: 10, free: 5, began: 13, ended: 14, want: 3},
		{due: 10, free: 20, began: 21, ended: 22, want: 1}, // the step before it was in its way
		{due: 10, free: 5, began: 10, ended: 10 + longStep, want: 0},
		{due: 10, free: 5, began: 10, ended: 11 + longStep, want: longStep + 1},
	} {
		p.Reset()
		noteStep(p, int64(test.due), int64(test.free), int64(test.began), int64(test.ended))
		if got := p.Longest(); got != test.want {
			t.Errorf("%+v: held up for %d", test, got)
		}
	}
}

func TestDisturbing(t *testing.T) {
	s := scenarios.Default()
	s.Lock.NodeTimeout = 50 * time.Millisecond
	if got, want := disturbing(&s, 5), 25*time.Millisecond; got != want {
		t.Errorf("without faults: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Partition{For: 60 * time.Millisecond}}, {Fault: &faults.Delay{By: time.Second}}}
	if got, want := disturbing(&s, 1), 10*time.Millisecond; got != want {
		t.Errorf("with a partition that lasts for 10 ms more than the node timeout: %v", got)
	}
	s.Lock.NodeTimeout, s.Timeline = 15*time.Minute, nil
	if got, want := disturbing(&s, 5), 25*time.Millisecond; got != want {
		t.Errorf("with clients that wait for ever: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Delay{By: 50 * time.Millisecond}}}
	if got, want := disturbing(&s, 5), 10*time.Millisecond; got != want {
		t.Errorf("with messages that are later by 50 ms: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Delay{By: 10 * time.Millisecond}}}
	if got, want := disturbing(&s, 5), stall.Resolution; got != want {
		t.Errorf("with messages that are later by less than can be told: %v", got)
	}
}

// Where nothing fails, an answer that a busy machine holds up is waited for; where something does, the node timeout is part of
// what happens.
func TestNodeTimeoutWhereNothingFails(t *testing.T) {
	s := scenarios.Default()
	s.Lock.NodeTimeout, s.Lock.TTL = 50*time.Millisecond, 30*time.Second
	if got := atSpeed(&s, 5).Lock.NodeTimeout; got != time.Second {
		t.Errorf("nothing fails: %v", got)
	}
	s.Lock.TTL = 2 * time.Second
	if got := atSpeed(&s, 5).Lock.NodeTimeout; got != 100*time.Millisecond {
		t.Errorf("nothing fails, with a short TTL: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Partition{}}}
	if got := atSpeed(&s, 5).Lock.NodeTimeout; got != 50*time.Millisecond {
		t.Errorf("with a fault: %v", got)
	}
}

// Redis' own milliseconds take no part in the speed; an allowance beyond them does.
func TestAllowanceAtSpeed(t *testing.T) {
	for _, test := range []struct{ given, want time.Duration }{
		{0, 0}, {time.Millisecond, time.Millisecond}, {2 * time.Millisecond, 2 * time.Millisecond}, {8 * time.Millisecond, 2 * time.Millisecond}, {time.Second, 200 * time.Millisecond},
	} {
		s := scenarios.Default()
		protocols.Change(&s.Lock, func(own *protocols.DriftSettings) { own.Drift.Constant = test.given })
		if got := protocols.Of[protocols.DriftSettings](atSpeed(&s, 5).Lock).Drift.Constant; got != test.want {
			t.Errorf("%v: %v, want %v", test.given, got, test.want)
		}
	}
}
