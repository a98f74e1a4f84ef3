//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/speed"
	"redlocksim/live/internal/testbed"
	"redlocksim/scenarios"
)

// Run runs a scenario against server processes and judges its findings, grants and leaked keys, but no durations.
// Whatever happens, no process and no file is left when it returns. It returns early, with an error that matches ctx's, when
// ctx ends. For what cannot be run here the error matches ErrUnfit, ErrNoServer or ErrNoCompiler; any other is an internal
// error. A run that a lock program has ended is a result, with the problem scenarios.ProgramFailed.
//
// A run that fails on an overloaded machine is retried, more slowly unless Options name a speed, since it was another scenario
// than the one written. After stall.MaxAttempts such runs the scenario counts as not tested. But somebody's lock that has the
// same outcome in two runs, one after the other and the second at the slowest speed, is judged by it: it is the lock, and not
// the machine. And no delay excuses two clients that hold a lock at once where they must not, tokens out of order, or a lock
// program that never grants anything for far longer than the machine stalled: such a run is never retried.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (*scenarios.Result, error) {
	if err := Unfit(s, o); err != nil {
		return nil, err
	}
	speeds := []int{o.Speed}
	if o.Speed == 0 {
		all := slowing(o.kind().AtMost(speed.Of(s)))
		speeds = all[:]
	}
	again := o.Again
	if again == nil {
		again = func(*scenarios.Result, time.Duration) {}
	}
	return untilUndisturbed(speeds, o.foreign() != nil, again, func(by int) (r *scenarios.Result, heldUp time.Duration, err error) {
		o.Speed = by
		out, stalled, err := runOnce(ctx, s, o)
		if err != nil {
			if failed := scenarios.EndedByProgram(s, scenarios.Options{Foreign: o.foreign()}, err); failed != nil && ctx.Err() == nil {
				failed.Tier = scenarios.Live
				return failed, 0, nil
			}
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		if stalled >= speed.Disturbing(s, by) {
			heldUp = stalled
		}
		r, err = scenarios.JudgeLive(s, out, o.foreign())
		return r, heldUp, err
	})
}

// runOnce runs the scenario once, and measures by how much the machine held it up.
func runOnce(ctx context.Context, s *scenarios.Scenario, o Options) (out *scenarios.Outcome, stalled time.Duration, err error) {
	on, err := testbed.New(o.Speed, o.Client)
	if err != nil {
		return nil, 0, err
	}
	r := &run{Testbed: on, scenario: s, lock: o.Lock, oneNode: o.OneNode, kind: o.kind(), field: testbed.NewField(on),
		running: map[*testbed.Client]int{}, items: make([]item, len(s.Timeline))}
	r.field.Fenced = s.Fenced()
	atBeliefEnd := func(it scenarios.Item) bool { return it.When.After != nil && it.When.After.Event == beliefEnded }
	if slices.ContainsFunc(s.Timeline, atBeliefEnd) {
		r.beliefs = testbed.NewBeliefs()
	}
	r.OnEntry = r.learn
	r.OnNotice = func(c *testbed.Client, n messages.Notice) {
		if n.Done > 0 {
			r.running[c]--
		}
	}
	for i, it := range s.Timeline {
		r.items[i].fault = faults.Placed{When: it.When, Fault: it.Fault}
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.setUp(ctx); err != nil {
		return nil, 0, err
	}
	r.Stalls.Reset()
	if err := r.play(ctx); err != nil {
		return nil, 0, err
	}
	stalled = r.Stalls.Longest()
	out, err = r.outcome()
	return out, stalled, err
}
