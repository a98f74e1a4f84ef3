package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"redlocksim/reports"
)

func newList() *cobra.Command {
	var expression string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the embedded scenarios, with what they claim and show",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := filter(expression)
			if err != nil {
				return err
			}
			return reports.List(cmd.OutOrStdout(), found, terminalWidth())
		},
	}
	cmd.Flags().StringVar(&expression, "filter", "", "only scenarios whose name matches this regular expression")
	return cmd
}

// terminalWidth is the width of the terminal on standard output; 0 if there is none.
func terminalWidth() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}
