package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/reports"
)

func newList() *cobra.Command {
	var expression string
	var sources, cases bool
	cmd := &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List the embedded scenarios and their verdicts",
		Long: `List the embedded scenarios by theme. With words, list the cases that have all
of them in the name, the title, the source or the theme, with their verdicts.`,
		Example: `  redlocksim list
  redlocksim list clock
  redlocksim list --filter restart --sources`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			found, err := filter(expression)
			if err != nil {
				return err
			}
			if found = about(found, words); len(found) == 0 {
				return &failure{exitUsage, fmt.Errorf("no scenario is about %s (see redlocksim list)", strings.Join(words, " and "))}
			}
			out := cmd.OutOrStdout()
			if len(words) == 0 && !sources && !cases && expression == "" {
				return reports.Overview(out, found, lookOf(out))
			}
			return reports.List(out, found, sources, lookOf(out))
		},
	}
	cmd.Flags().StringVar(&expression, "filter", "", "list only cases whose name matches this regular expression")
	cmd.Flags().BoolVar(&sources, "sources", false, "also show where each comes from")
	cmd.Flags().BoolVar(&cases, "cases", false, "list all cases")
	return cmd
}
