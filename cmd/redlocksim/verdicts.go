package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

const verdictsIntro = `# Verdicts

Each row is a case of an embedded scenario: what is claimed of its protocol and settings, the verdict that its file expects,
and the verdict on each tier. Tiers model and wire are the simulator: model with Redis semantics in Go, wire with the shipped
adapter over RESP bytes. Tier live is server processes, fault proxies and client processes: redis-server, or etcd and PostgreSQL
for the protocols on those. Its verdicts have no durations, as those depend on the machine. If real processes cannot show a case,
the row says why.

` + "`redlocksim verdicts > scenarios/VERDICTS.md`" + ` writes this file.

`

func newVerdicts() *cobra.Command {
	var expression string
	cmd := &cobra.Command{
		Use:   "verdicts",
		Short: "Print the verdict of every scenario on each tier, as Markdown",
		Long: `Run the embedded scenarios on tiers model, wire and live, and print a Markdown
table with a row for each: the claim, the expected verdict, and the verdict on
each tier. For a scenario that real servers cannot show, the row says why.

This needs Linux, redis-server, etcd, PostgreSQL, cc and the Go toolchain, and
takes some minutes in the project's directory.

` + exitcode.HelpOnAll(),
		Example: `  redlocksim verdicts > scenarios/VERDICTS.md
  redlocksim verdicts --filter restart`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := filter(expression)
			if err != nil {
				return err
			}
			rows, results, err := verdicts(cmd, found)
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), verdictsIntro, markdown(rows))
			return ending(verdictCode(results...))
		},
	}
	cmd.Flags().StringVar(&expression, "filter", "", "run only scenarios whose name matches this regular expression")
	return cmd
}

// verdictRow is a row of the table, in the order of its columns.
type verdictRow struct{ name, claim, expected, model, wire, live string }

// verdicts runs scenarios on all tiers.
func verdicts(cmd *cobra.Command, found []*scenarios.Scenario) ([]verdictRow, []*scenarios.Result, error) {
	results, err := scenarios.Suite(cmd.Context(), found, scenarios.Tiers(), scenarios.Options{}, nil)
	if err != nil {
		return nil, nil, wrap(err)
	}
	rows := map[string]*verdictRow{}
	for _, r := range results {
		row := rows[r.Scenario.Name]
		if row == nil {
			row = &verdictRow{name: r.Scenario.Name, claim: string(r.Scenario.Claim), expected: r.Scenario.Expect.String()}
			rows[row.name] = row
		}
		cell := &row.model
		if r.Tier == scenarios.Wire {
			cell = &row.wire
		}
		*cell = marked(r, r.Verdict())
	}
	err = runLive(cmd.Context(), cmd, found, &lockFlags{}, func(r *scenarios.Result, _ *lockFlags) error {
		var keys []string
		for _, l := range r.Leaks {
			if !slices.Contains(keys, l.Key) {
				keys = append(keys, l.Key)
			}
		}
		rows[r.Scenario.Name].live = marked(r, untimed(r.Findings, keys))
		results = append(results, r)
		return nil
	}, func(s *scenarios.Scenario, why error) error {
		if !errors.Is(why, live.ErrUnfit) && !errors.Is(why, programs.ErrUnfit) {
			return &failure{exitUsage, why}
		}
		rows[s.Name].live = refusal(why)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var all []verdictRow
	for _, s := range found {
		all = append(all, *rows[s.Name])
	}
	return all, results, nil
}

// marked is a verdict that says so if it is not the expected one.
func marked(r *scenarios.Result, verdict string) string {
	if !r.OK() {
		verdict += ", NOT AS EXPECTED"
	}
	return verdict
}

// untimed is a verdict without durations.
func untimed(findings scenarios.Findings, leaks []string) string {
	text := findings.String()
	if len(leaks) > 0 {
		text += ", leaks " + strings.Join(leaks, " and ")
	}
	return text
}

// refusal is the reason in an error of live.Unfit.
func refusal(err error) string {
	_, why, _ := strings.Cut(err.Error(), live.ErrUnfit.Error()+": ")
	return "– " + why
}

func markdown(rows []verdictRow) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "claim", "expected", "model", "wire", "live"})
	for _, r := range rows {
		t.AppendRow(table.Row{r.name, r.claim, r.expected, r.model, r.wire, r.live})
	}
	return t.RenderMarkdown() + "\n"
}
