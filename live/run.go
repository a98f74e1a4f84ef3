//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
	"redlocksim/sim/storage"
)

// Run runs a scenario against redis-server processes and judges its findings, grants and leaked keys, but no durations.
// Whatever happens, no process and no file is left when it returns. It returns early, with an error that matches ctx's, when
// ctx ends. For what cannot be run here the error matches ErrUnfit, ErrNoServer or ErrNoCompiler; any other is an internal
// error.
//
// A run that fails on an overloaded machine is retried, more slowly unless Options name a speed, since it was another scenario
// than the one written. After stall.MaxAttempts such runs the scenario counts as not tested. But no delay excuses two clients
// that hold a lock at once where they must not, or tokens out of order: such a run is never retried.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (*scenarios.Result, error) {
	if err := Unfit(s); err != nil {
		return nil, err
	}
	speeds := []int{o.Speed}
	if o.Speed == 0 {
		all := slowing(speedOf(s))
		speeds = all[:]
	}
	again := o.Again
	if again == nil {
		again = func(*scenarios.Result, time.Duration) {}
	}
	return untilUndisturbed(speeds, again, func(speed int) (r *scenarios.Result, heldUp time.Duration, err error) {
		o.Speed = speed
		out, stalled, err := record(ctx, s, o)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		if stalled >= disturbing(s, speed) {
			heldUp = stalled
		}
		r, err = scenarios.JudgeLive(s, out)
		return r, heldUp, err
	})
}

// untilUndisturbed runs at these speeds, one after the other, until a run counts, and calls again with each that does not. run
// returns by how much the machine held the run up; 0 for too little to matter.
func untilUndisturbed(
	speeds []int,
	again func(r *scenarios.Result, heldUp time.Duration),
	run func(speed int) (r *scenarios.Result, heldUp time.Duration, err error),
) (*scenarios.Result, error) {
	for i := 0; ; i++ {
		r, heldUp, err := run(speeds[i])
		if err != nil || r.OK() || heldUp == 0 || isInexcusable(r) {
			return r, err
		}
		if i == len(speeds)-1 {
			r.SetNotTested(fmt.Sprintf("the machine is too busy: it held the run up for %v, as it did %d runs before",
				heldUp.Round(time.Millisecond), i))
			return r, nil
		}
		again(r, heldUp)
	}
}

// slowing lists the speeds at which a scenario is tried, one after the other.
func slowing(first int) [stall.MaxAttempts]int {
	if first == 1 {
		return [...]int{1, 1, 1, 1, 1}
	}
	return [...]int{first, (first + 1) / 2, 1, 1, 1}
}

// isInexcusable reports an unexpected violation of mutual exclusion at the lock, or a resource with a fence that accepted what
// it should have refused.
func isInexcusable(r *scenarios.Result) bool {
	for _, kind := range r.Findings {
		switch kind {
		case checker.LeaseOverlap, checker.TokenRegressed, checker.TokenRepeated:
		case checker.StaleWrite:
			if kind := r.Scenario.Storage; kind != storage.Fenced && kind != storage.FencedWrites {
				continue
			}
		default:
			continue
		}
		if !slices.Contains(r.Scenario.Expect.Findings, kind) {
			return true
		}
	}
	return false
}

// record runs the scenario once, and measures by how much the machine held it up.
func record(ctx context.Context, s *scenarios.Scenario, o Options) (out *scenarios.Outcome, stalled time.Duration, err error) {
	on, err := newTestbed(o.Speed, o.Client)
	if err != nil {
		return nil, 0, err
	}
	r := &run{testbed: on, scenario: s, items: make([]item, len(s.Timeline))}
	atBeliefEnd := func(it scenarios.Item) bool { return it.When.After != nil && it.When.After.Event == beliefEnded }
	if slices.ContainsFunc(s.Timeline, atBeliefEnd) {
		r.beliefs = newBeliefs()
	}
	r.observer = r.learn
	for i, it := range s.Timeline {
		r.items[i].fault = faults.Placed{When: it.When, Fault: it.Fault}
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.setUp(ctx); err != nil {
		return nil, 0, err
	}
	r.stalls.Reset()
	if err := r.play(ctx); err != nil {
		return nil, 0, err
	}
	stalled = r.stalls.Longest()
	out, err = r.outcome()
	return out, stalled, err
}
