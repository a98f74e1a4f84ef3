package main

import (
	_ "embed"

	"github.com/spf13/cobra"
)

//go:embed new.yaml
var startingFile []byte

func newNew() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a commented scenario file to start from",
		Long: `Write a scenario file to start from, with comments. Without a name, or for "-",
it goes to standard output. An existing file that is not empty is replaced only
with --force.`,
		Example: `  redlocksim new ours.yaml`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			if len(args) == 1 {
				path = args[0]
			}
			to, scenario := newSink(cmd, force), file("new", path)
			if err := to.check(scenario); err != nil {
				return err
			}
			return to.put(scenario, startingFile)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	return cmd
}
