package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/live"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// newLiveClient is the command that tier live starts for each client.
func newLiveClient() *cobra.Command {
	return &cobra.Command{
		Use:    "live-client",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := live.Client(cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return &failure{exitInternal, err}
			}
			return nil
		},
	}
}

// runLive runs scenarios on tier live, one after the other. Those that cannot be shown there, or not on this machine, it
// skips, and tells each of them.
func runLive(cmd *cobra.Command, found []*scenarios.Scenario, done func(*scenarios.Result) error, skip func(*scenarios.Scenario, error) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, s := range found {
		r, err := live.Run(ctx, s, live.Options{})
		switch {
		case ctx.Err() != nil:
			return &failure{exitUsage, errors.New("interrupted: nothing was left behind")}
		case errors.Is(err, live.ErrUnfit) || errors.Is(err, live.ErrNoCompiler):
			err = skip(s, err)
		case errors.Is(err, live.ErrNoServer):
			return &failure{exitUsage, fmt.Errorf("--tier live: %w", err)}
		case err != nil:
			return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
		default:
			err = done(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runOnLive is the run command on tier live.
func runOnLive(cmd *cobra.Command, found []*scenarios.Scenario, historyPath, arg string, isFile, full bool) error {
	var results []*scenarios.Result
	err := runLive(cmd, found, func(r *scenarios.Result) error {
		if len(results) > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		results = append(results, r)
		if err := reports.Run(cmd.OutOrStdout(), r, repeatCommand(arg, isFile, r), full); err != nil {
			return &failure{exitInternal, err}
		}
		if historyPath != "" {
			return writeHistory(historyPath, r.History)
		}
		return nil
	}, func(_ *scenarios.Scenario, why error) error {
		return &failure{exitUsage, why}
	})
	if err != nil {
		return err
	}
	if code := verdictCode(results...); code != exitOK {
		return &failure{code: code}
	}
	return nil
}

// suiteOnLive is the suite command on tier live.
func suiteOnLive(cmd *cobra.Command, found []*scenarios.Scenario, jsonPath string) error {
	start := time.Now()
	var results []*scenarios.Result
	var records []reports.Record
	var skipped []error
	err := runLive(cmd, found, func(r *scenarios.Result) error {
		results = append(results, r)
		records = append(records, reports.NewRecord(r, repeatCommand(r.Scenario.Name, false, r)))
		return nil
	}, func(_ *scenarios.Scenario, why error) error {
		skipped = append(skipped, why)
		return nil
	})
	if err != nil {
		return err
	}
	if err := write(cmd, records, jsonPath, time.Since(start)); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if jsonPath == "-" {
		out = cmd.ErrOrStderr()
	}
	switch len(skipped) {
	case 0:
	case 1:
		fmt.Fprint(out, "\n1 scenario was not run:\n")
	default:
		fmt.Fprintf(out, "\n%d scenarios were not run:\n", len(skipped))
	}
	for _, why := range skipped {
		fmt.Fprintf(out, "  %v\n", why)
	}
	if code := verdictCode(results...); code != exitOK {
		return &failure{code: code}
	}
	return nil
}
