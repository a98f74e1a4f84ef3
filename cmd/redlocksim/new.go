package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"redlocksim/schema"
)

//go:embed new.yaml
var startingFile []byte

func newNew() *cobra.Command {
	var force bool
	var schemaPath string
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a scenario file to start from, with comments",
		Long: `Write a scenario file to start from, with comments; to standard output without a
name, or for "-". A file that is there is left alone, unless --force is given.

With --schema the JSON Schema is written to that file too, and the first line of
the scenario tells the YAML language server where it is, so that the editor
completes and checks it, without a network.`,
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
			if err := checkFiles(target{"new", path}, target{"--schema", schemaPath}); err != nil {
				return err
			}
			if err := mayWrite(path, force); err != nil {
				return err
			}
			if schemaPath != "" {
				if err := put(cmd.OutOrStdout(), schemaPath, schema.Scenario); err != nil {
					return cannotWrite("--schema", err)
				}
			}
			if err := put(cmd.OutOrStdout(), path, text); err != nil {
				return cannotWrite("", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	cmd.Flags().StringVar(&schemaPath, "schema", "", "write the JSON Schema to this file, and name it in the scenario")
	return cmd
}

// mayWrite is the error for a file that is there, and may not be replaced.
func mayWrite(path string, force bool) error {
	if path == "-" || force {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return &failure{exitUsage, fmt.Errorf("%s is there already; --force replaces it", path)}
	}
	return nil
}

// modeline tells the YAML language server where the schema is, seen from the scenario file.
func modeline(path, schemaPath string) (string, error) {
	if schemaPath == "-" {
		return "", &failure{exitUsage, errors.New("--schema: name a file; redlocksim schema prints it")}
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
