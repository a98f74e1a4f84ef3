package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/reports"
	"redlocksim/scenarios"
)

func newSuite() *cobra.Command {
	var tier, expression, jsonPath string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "suite",
		Short: "Run all embedded scenarios and compare the verdicts with what is expected",
		Long: `Run the embedded scenarios on both tiers and compare the verdicts with what is
expected of each. The histories of the two tiers must be equal, byte for byte.

` + exitHelp,
		Example: `  redlocksim suite
  redlocksim suite --tier model --filter restart
  redlocksim suite --json -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			on, err := tiers(tier, scenarios.Tiers()...)
			if err != nil {
				return err
			}
			found, err := filter(expression)
			if err != nil {
				return err
			}
			if on[0] == scenarios.Live {
				return suiteOnLive(cmd, found, jsonPath)
			}
			start := time.Now()
			results, err := scenarios.Suite(found, on, seed)
			if err != nil {
				return wrap(err)
			}
			var records []reports.Record
			for _, r := range results {
				records = append(records, reports.NewRecord(r, repeatCommand(r.Scenario.Name, false, r)))
			}
			if err := write(cmd, records, jsonPath, time.Since(start)); err != nil {
				return err
			}
			if code := verdictCode(results...); code != exitOK {
				return &failure{code: code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&tier, "tier", "", "only this tier: model, wire or live; model and wire unless given")
	cmd.Flags().StringVar(&expression, "filter", "", "only scenarios whose name matches this regular expression")
	cmd.Flags().StringVar(&jsonPath, "json", "", "write the results as JSON to this file; - writes them to standard output, and nothing else")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "the seed of all random choices")
	return cmd
}

func write(cmd *cobra.Command, records []reports.Record, jsonPath string, took time.Duration) error {
	if jsonPath != "" {
		if err := writeJSON(cmd, reports.NewDocument(records), jsonPath); err != nil || jsonPath == "-" {
			return err
		}
	}
	if err := reports.Suite(cmd.OutOrStdout(), records, took, terminalWidth()); err != nil {
		return &failure{exitInternal, err}
	}
	return nil
}

// writeJSON writes the JSON form of a result to a file, or to standard output if it is "-".
func writeJSON(cmd *cobra.Command, form any, path string) error {
	if path == "-" {
		if err := reports.WriteJSON(cmd.OutOrStdout(), form); err != nil {
			return &failure{exitInternal, err}
		}
		return nil
	}
	var b bytes.Buffer
	if err := reports.WriteJSON(&b, form); err != nil {
		return &failure{exitInternal, err}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return &failure{exitUsage, fmt.Errorf("--json: %w", err)}
	}
	return nil
}
