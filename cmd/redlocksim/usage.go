package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/strictyaml"
)

// knownCommand refuses the name of a command that there is not, and says which was meant.
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
	return &failure{exitUsage, fmt.Errorf("there is no command %q%s (redlocksim --help lists them)", args[0], meant(args[0], names, ""))}
}

// flagError says of a mistake in the flags of a command which flag was meant, and where they are explained.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		hint = meant(unknown.GetSpecifiedName(), names, "--")
	}
	return &failure{exitUsage, fmt.Errorf("%w%s (%s --help says more)", err, hint, cmd.CommandPath())}
}

// meant is the question for a word that is near; empty if none is.
func meant(word string, valid []string, prefix string) string {
	near, ok := strictyaml.Nearest(word, valid)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+near)
}
