package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/strictyaml"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/schema"
)

func newLint() *cobra.Command {
	var settings, schemas bool
	cmd := &cobra.Command{
		Use:   "lint FILE…",
		Short: "Check scenario files for mistakes without running them",
		Long: `Check scenario files for mistakes without running them. Every mistake is
reported as FILE:LINE:COLUMN, with the nearest valid word if there is one. A
warning points at something that has no effect. "-" is standard input.

--settings checks settings files, which have only lock, nodes, network, storage
and budget.

--schema prints the JSON Schema of scenario files; with the argument suite, that
of what suite --json writes, and with lock-program, that of the lines that lock
programs read and write. Editors with the YAML language server
complete and check a scenario file whose first line names the schema:

  # yaml-language-server: $schema=scenario.schema.json

` + exitcode.Help(exitcode.Specifics{exitOK: "every file can run, perhaps with warnings", exitUsage: "a file has a mistake or cannot be read"}),
		Example: `  redlocksim lint our-scenarios/*.yaml
  redlocksim new | redlocksim lint -
  redlocksim lint --schema > scenario.schema.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if schemas {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if schemas {
				return printSchema(cmd.OutOrStdout(), strings.Join(args, ""))
			}
			wrong := false
			for _, path := range args {
				ok, err := lint(cmd, path, settings)
				if err != nil {
					return err
				}
				wrong = wrong || !ok
			}
			if wrong {
				return &failure{code: exitUsage}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&settings, "settings", false, "check settings files")
	cmd.Flags().BoolVar(&schemas, "schema", false, "print a JSON Schema: scenario, suite or lock-program")
	return cmd
}

// printSchema writes a JSON Schema, that of scenarios if nothing is named.
func printSchema(to io.Writer, name string) error {
	text, known := map[string][]byte{"": schema.Scenario, "scenario": schema.Scenario, "suite": schema.Suite, "lock-program": schema.LockProgram}[name]
	if !known {
		return &failure{exitUsage, fmt.Errorf("unknown schema %q; want scenario, suite or lock-program", name)}
	}
	_, err := to.Write(text)
	return wrap(err)
}

// lint tells what is wrong with a file, and says whether nothing is.
func lint(cmd *cobra.Command, path string, settings bool) (ok bool, err error) {
	var b strings.Builder
	look := lookOf(cmd.OutOrStdout())
	ok = lintInto(&b, cmd.InOrStdin(), look, path, settings)
	if _, err := io.WriteString(cmd.OutOrStdout(), b.String()); err != nil {
		return ok, wrap(err)
	}
	return ok, nil
}

func lintInto(b *strings.Builder, stdin io.Reader, look reports.Look, path string, settings bool) bool {
	name, data, err := readInput(stdin, path)
	if err != nil {
		fmt.Fprintf(b, "%v\n", err)
		return false
	}
	if settings {
		if _, err := scenarios.ParseSettings(name, data); err != nil {
			fmt.Fprintf(b, "%v\n", err)
			return false
		}
		fmt.Fprintf(b, "%s: %s, settings\n", name, look.Good("ok"))
		return true
	}
	found, warnings, err := scenarios.Lint(name, data)
	if err != nil {
		fmt.Fprintf(b, "%v\n", err)
		return false
	}
	for _, w := range warnings {
		fmt.Fprintf(b, "%v (%s)\n", w, look.Doubtful("warning"))
	}
	what := "1 scenario"
	if n := len(found); n > 1 {
		what = fmt.Sprintf("%d cases", n)
	} else if caseOf(found[0]) != "" {
		what = "1 case"
	}
	fmt.Fprintf(b, "%s: %s, %s\n", name, look.Good("ok"), what)
	return true
}

// readInput reads a file, or standard input if it is "-", and says what it is called in errors.
func readInput(stdin io.Reader, path string) (name string, data []byte, err error) {
	if path != "-" {
		data, err = strictyaml.ReadFile(path)
		return path, data, err
	}
	data, err = strictyaml.Read("stdin", stdin)
	return "stdin", data, err
}
