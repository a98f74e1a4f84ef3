package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/live"
	"redlocksim/locks"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/verdict"
)

// newLiveClient is the command that tier live starts for each client.
func newLiveClient() *cobra.Command {
	return &cobra.Command{
		Use:    "live-client",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wrap(live.Client(cmd.InOrStdin(), cmd.OutOrStdout()))
		},
	}
}

// runLive runs scenarios on tier live, one after the other. Those that cannot be shown there, or not on this machine, it
// skips, and tells each of them. The lock that done is told of is the one that ran, which is not a given one where a program
// is the scenario's protocol.
func runLive(ctx context.Context, cmd *cobra.Command, found []*scenarios.Scenario, lock *lockFlags, done func(*verdict.Result, *lockFlags) error, skip func(*scenarios.Scenario, error) error) error {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	real := realLocks{}
	defer real.close()
	for _, s := range found {
		ran, o := lock, lock.live()
		if !lock.isGiven() && s.Lock.Capabilities().Service != "" {
			var err error
			if ran, err = real.of(ctx, s); err == nil {
				err = ran.about.Unfit(s)
			}
			switch {
			case ctx.Err() != nil:
				return &failure{exitUsage, errInterrupted}
			case errors.Is(err, live.ErrUnfit) || errors.Is(err, programs.ErrUnfit):
				if err := skip(s, err); err != nil {
					return err
				}
				continue
			case errors.Is(err, locks.ErrNotBuilt):
				return &failure{exitNotTested, err}
			case err != nil:
				return wrap(err)
			}
			o = ran.live()
			o.IsProtocol = true
		}
		o.Again = func(r *verdict.Result, heldUp time.Duration) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: the machine stalled for %v and the run ended differently (%s); retrying more slowly\n",
				s.Name, heldUp.Round(time.Millisecond), r.Problems[0].Text)
		}
		r, err := live.Run(ctx, s, o)
		switch {
		case err != nil && ctx.Err() != nil:
			return &failure{exitUsage, errInterrupted}
		case errors.Is(err, live.ErrUnfit) || errors.Is(err, live.ErrNoCompiler) || errors.Is(err, live.ErrNoServer) && o.IsProtocol:
			err = skip(s, err)
		case errors.As(err, new(*scenarios.RunError)):
			err = done(verdict.FailedRun(s, scenarios.Options{Tier: scenarios.Live}, err), ran)
		case errors.Is(err, live.ErrNoServer):
			return &failure{exitUsage, fmt.Errorf("--tier live: %w", err)}
		case err != nil:
			return wrap(err)
		default:
			err = done(r, ran)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
