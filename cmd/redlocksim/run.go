package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"redlocksim/history"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

func newRun() *cobra.Command {
	var tier, only, historyPath string
	var seed uint64
	var trace, full bool
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run one scenario and tell what happened",
		Long: `Run one scenario, embedded or from a file, and tell what happened as a numbered
story, with the verdict, the windows of true time in which two clients held the
lock together, the hashes of the run and the command that repeats it. Every run
is made twice and compared. A name without a case stands for all its cases.

On tier live the same scenario is run once, by redis-server processes, fault
proxies and client processes, five times as fast. Seed and trace mean nothing
there, and durations are not compared with what is expected.

` + exitHelp,
		Example: `  redlocksim run 17-clock-jump
  redlocksim run 24-restart-at-once/one-of-three --tier wire --seed 7
  redlocksim run my-settings.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			on, err := tiers(tier, scenarios.Model)
			if err != nil {
				return err
			}
			found, isFile, err := find(args[0])
			if err == nil && only != "" {
				found, err = pick(found, only)
			}
			if err != nil {
				return err
			}
			if historyPath != "" && len(found) > 1 {
				return &failure{exitUsage, fmt.Errorf("--history: %s has %d cases, choose one with --case", args[0], len(found))}
			}
			if on[0] == scenarios.Live {
				return runOnLive(cmd, found, historyPath, args[0], isFile, full)
			}
			out := cmd.OutOrStdout()
			var results []*scenarios.Result
			for i, s := range found {
				if i > 0 {
					fmt.Fprintln(out)
				}
				o := scenarios.Options{Tier: on[0], Seed: seed}
				if s.Recorded != nil && !cmd.Flags().Changed("seed") {
					o.Seed = s.Recorded.Seed
				}
				if trace {
					o.Trace = func(t sim.TraceStep) { fmt.Fprintln(out, t) }
				}
				r, err := scenarios.Verify(s, o)
				if err != nil {
					return wrap(err)
				}
				if trace {
					fmt.Fprintln(out)
				}
				if err := reports.Run(out, r, repeatCommand(args[0], isFile, r), full); err != nil {
					return &failure{exitInternal, err}
				}
				results = append(results, r)
				if historyPath != "" {
					if err := writeHistory(historyPath, r.History); err != nil {
						return err
					}
				}
			}
			if code := verdictCode(results...); code != exitOK {
				return &failure{code: code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&tier, "tier", "", "model (Redis semantics in Go), wire (go-redis and miniredis) or live (redis-server processes); model unless given")
	cmd.Flags().StringVar(&historyPath, "history", "", "write the history to this file, as JSON Lines; redlocksim check judges it")
	cmd.Flags().StringVar(&only, "case", "", "only the case of this name")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "the seed of all random choices; 0 unless given, or what the file was recorded with")
	cmd.Flags().BoolVar(&trace, "trace", false, "print every step of the simulator first")
	cmd.Flags().BoolVar(&full, "full", false, "tell the whole story, however long")
	return cmd
}

// writeHistory writes a history to a file, all of it or nothing.
func writeHistory(path string, h history.History) error {
	var b bytes.Buffer
	if err := history.Encode(&b, h); err != nil {
		return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return &failure{exitUsage, fmt.Errorf("--history: %w", err)}
	}
	return nil
}
