package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/helptext"
	"redlocksim/internal/strictyaml"
)

// wrapFlags has the help of every command break the lines about flags to fit.
func wrapFlags(root *cobra.Command) {
	wrapped := fmt.Sprintf("FlagUsagesWrapped %d", helptext.Width)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", wrapped))
}

// knownCommand refuses an unknown command and suggests the nearest one.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	return &failure{exitUsage, fmt.Errorf("unknown command %q%s (see redlocksim --help)", args[0], meant(args[0], names, ""))}
}

// flagError is the error for wrong flags: it suggests the nearest flag and says where flags are explained.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		hint = meant(unknown.GetSpecifiedName(), names, "--")
	}
	return &failure{exitUsage, fmt.Errorf("%w%s (see %s --help)", err, hint, cmd.CommandPath())}
}

// meant is the question for a word that is near; empty if none is.
func meant(word string, valid []string, prefix string) string {
	near, ok := strictyaml.Nearest(word, valid)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+near)
}
