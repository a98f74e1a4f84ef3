//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"redlocksim/live/internal/client"
	"redlocksim/live/internal/speed"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Run runs a scenario against server processes and judges its findings, grants and leaked keys, but no durations.
// Whatever happens, no process and no file is left when it returns. It returns early, with an error that matches ctx's, when
// ctx ends. For what cannot be run here the error matches ErrUnfit, ErrNoServer or ErrNoCompiler; any other is an internal
// error. A run that a lock program has ended is a result, with the problem verdict.ProgramFailed.
//
// A run that fails on an overloaded machine is retried, more slowly unless Options name a speed, since it was another scenario
// than the one written. After stall.MaxAttempts such runs the scenario counts as not tested. But somebody's lock that has the
// same outcome in two runs, one after the other and the second at the slowest speed, is judged by it: it is the lock, and not
// the machine. And no delay excuses two clients that hold a lock at once where they must not, tokens out of order, or a lock
// program that never grants anything for far longer than the machine stalled: such a run is never retried.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (*verdict.Result, error) {
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
		again = func(*verdict.Result, time.Duration) {}
	}
	return untilUndisturbed(speeds, o.foreign() != nil, again, func(by int) (r *verdict.Result, heldUp time.Duration, err error) {
		o.Speed = by
		out, stalled, err := runOnce(ctx, s, o)
		if err != nil {
			if failed := verdict.EndedByProgram(s, scenarios.Options{Foreign: o.foreign()}, err); failed != nil && ctx.Err() == nil {
				failed.Tier = scenarios.Live
				return failed, 0, nil
			}
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		if stalled >= speed.Disturbing(s, by) {
			heldUp = stalled
		}
		r, err = verdict.JudgeLive(s, out, o.foreign())
		return r, heldUp, err
	})
}

// runOnce runs the scenario once, and measures by how much the machine held it up.
func runOnce(ctx context.Context, s *scenarios.Scenario, o Options) (out *scenarios.Outcome, stalled time.Duration, err error) {
	r, err := newRun(s, o)
	if err != nil {
		return nil, 0, err
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

// Client is all that a client process does: it reads orders from in and writes what happens to out, until in ends. An error is
// also written to out.
func Client(in io.Reader, out io.Writer) error { return client.Serve(in, out) }
