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
		Short: "List the embedded scenarios and their verdicts",
		Long: `List the embedded scenarios: the name, what is claimed of the protocol, the
verdict, and the title. --sources adds where each comes from. In a terminal the
table fits the width; elsewhere each scenario takes one line.`,
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
	cmd.Flags().StringVar(&expression, "filter", "", "list only scenarios whose name matches this regular expression")
	cmd.Flags().BoolVar(&sources, "sources", false, "also show where each comes from")
	return cmd
}
