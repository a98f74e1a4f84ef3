package main

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"redlocksim/scenarios/schema"
)

//go:embed new.yaml
var startingFile []byte

func newNew() *cobra.Command {
	var force bool
	var schemaPath string
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a commented scenario file to start from",
		Long: `Write a scenario file to start from, with comments. Without a name, or for "-",
it goes to standard output. An existing file that is not empty is replaced only
with --force; a schema that an earlier version wrote is replaced without it.

--schema also writes the JSON Schema to that file, and the first line of the
scenario tells the YAML language server where it is. Editors then complete and
check the scenario without a network.`,
		Example: `  redlocksim new ours.yaml
  redlocksim new ours.yaml --schema .redlocksim.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			if len(args) == 1 {
				path = args[0]
			}
			text := startingFile
			if schemaPath != "" {
				line, err := modeline(path, schemaPath)
				if err != nil {
					return err
				}
				text = append([]byte(line), text...)
			}
			to, scenario, schemaFile := newSink(cmd, force), file("new", path), file("--schema", schemaPath)
			if err := to.check(scenario, schemaFile); err != nil {
				return err
			}
			if schemaPath != "" {
				if err := to.put(schemaFile, schema.Scenario); err != nil {
					return err
				}
			}
			return to.put(scenario, text)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	cmd.Flags().StringVar(&schemaPath, "schema", "", "write the JSON Schema to this file, and point the scenario to it")
	return cmd
}

// modeline tells the YAML language server where the schema is, seen from the scenario file.
func modeline(path, schemaPath string) (string, error) {
	if schemaPath == "-" {
		return "", &failure{exitUsage, errors.New("--schema: name a file; redlocksim lint --schema prints it")}
	}
	from := "."
	if path != "-" {
		from = filepath.Dir(path)
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return "", &failure{exitUsage, err}
	}
	to, err := filepath.Abs(schemaPath)
	if err != nil {
		return "", &failure{exitUsage, err}
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return "", &failure{exitUsage, fmt.Errorf("--schema: %w", err)}
	}
	return "# yaml-language-server: $schema=" + filepath.ToSlash(relative) + "\n", nil
}
