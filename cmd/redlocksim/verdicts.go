package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/live"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

const verdictsIntro = `# Verdicts

Each row is a case of an embedded scenario: the verdict that its file expects, and the verdict on each tier, in the words of
[the checker](../docs/checker.md#the-words). A lock that breaks beyond the budget is not claimed to hold there. Tiers model and wire are the simulator: model with Redis semantics in Go, wire with the shipped
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
table with a row for each: the expected verdict, and the verdict on each tier.
For a scenario that real servers cannot show, the row says why.

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
type verdictRow struct{ name, expected, model, wire, live string }

// verdicts runs scenarios on all tiers.
func verdicts(cmd *cobra.Command, found []*scenarios.Scenario) ([]verdictRow, []*scenarios.Result, error) {
	results, err := scenarios.Suite(cmd.Context(), found, scenarios.Tiers(), nil, scenarios.Options{}, nil)
	if err != nil {
		return nil, nil, wrap(err)
	}
	rows := map[string]*verdictRow{}
	for _, r := range results {
		row := rows[r.Scenario.Name]
		if row == nil {
			row = &verdictRow{name: r.Scenario.Name, expected: r.Scenario.Says()}
			rows[row.name] = row
		}
		cell := &row.model
		if r.Tier == scenarios.Wire {
			cell = &row.wire
		}
		*cell = marked(r, r.Says())
	}
	err = runLive(cmd.Context(), cmd, found, &lockFlags{}, func(r *scenarios.Result, _ *lockFlags) error {
		rows[r.Scenario.Name].live = marked(r, r.SaysUntimed())
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

// refusal is the reason in an error of live.Unfit.
func refusal(err error) string {
	_, why, _ := strings.Cut(err.Error(), live.ErrUnfit.Error()+": ")
	return "– " + why
}

func markdown(rows []verdictRow) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "expected", "model", "wire", "live"})
	for _, r := range rows {
		t.AppendRow(table.Row{r.name, r.expected, r.model, r.wire, r.live})
	}
	return t.RenderMarkdown() + "\n"
}
