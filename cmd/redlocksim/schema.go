package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"redlocksim/scenarios/schema"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [scenario|suite|lock-program]",
		Short: "Print the JSON Schema of scenario files, results or lock programs",
		Long: `Print the JSON Schema of scenario files, of what suite --json writes, or of the
lines that lock programs read and write. Editors with the YAML language server
complete and check a scenario file whose first line names the schema:

  # yaml-language-server: $schema=scenario.schema.json`,
		Example: `  redlocksim schema > scenario.schema.json
  redlocksim schema suite`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := schema.Scenario
			if len(args) == 1 {
				switch args[0] {
				case "scenario":
				case "suite":
					text = schema.Suite
				case "lock-program":
					text = schema.LockProgram
				default:
					return &failure{exitUsage, fmt.Errorf("unknown schema %q; want scenario, suite or lock-program", args[0])}
				}
			}
			if _, err := cmd.OutOrStdout().Write(text); err != nil {
				return wrap(err)
			}
			return nil
		},
	}
}
