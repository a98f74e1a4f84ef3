package main

import (
	"github.com/spf13/cobra"

	"redlocksim/reports"
)

func newList() *cobra.Command {
	var expression string
	var sources bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the embedded scenarios, with what they claim and show",
		Long: `List the embedded scenarios: their names, what they claim, what they show, and
their titles; with --sources also where each is from. In a terminal the table is
as wide as that; elsewhere each scenario has one line.`,
		Example: `  redlocksim list
  redlocksim list --filter restart --sources`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := filter(expression)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			return reports.List(out, found, sources, lookOf(out))
		},
	}
	cmd.Flags().StringVar(&expression, "filter", "", "only scenarios whose name matches this regular expression")
	cmd.Flags().BoolVar(&sources, "sources", false, "also where each is from")
	return cmd
}
