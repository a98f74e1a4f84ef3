package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/strictyaml"
	"redlocksim/internal/wordwrap"
)

// fitHelp has the help of every command break the lines about flags to fit, and shortens a line of cobra that would not.
func fitHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		"FlagUsages", fmt.Sprintf("FlagUsagesWrapped %d", wordwrap.HelpWidth),
		"for more information about a command", "to read about a command",
	).Replace(root.UsageTemplate()))
}

// knownCommand refuses what is no command of this one, and suggests the nearest one that is.
func knownCommand(of *cobra.Command) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, cmd := range of.Commands() {
			if cmd.Name() == args[0] {
				return nil
			}
			if cmd.IsAvailableCommand() {
				names = append(names, cmd.Name())
			}
		}
		return &failure{exitUsage, fmt.Errorf("unknown command %q%s (see %s --help)", args[0], meant(args[0], names), of.CommandPath())}
	}
}

// limitGenerated has the commands that cobra adds, help and completion, refuse what is no command.
func limitGenerated(root *cobra.Command) {
	root.CompletionOptions.HiddenDefaultCmd = true
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = knownCommand(root)
			cmd.Short, cmd.Long, cmd.Example = "Print the help of a command", "", "  redlocksim help run"
		case "completion":
			cmd.Args, cmd.Example = knownCommand(cmd), "  source <(redlocksim completion bash)"
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				generate := shell.RunE
				shell.RunE = func(cmd *cobra.Command, args []string) error {
					if err := generate(cmd, args); err != nil { // nothing but the output can go wrong
						return &failure{exitNotWritten, err}
					}
					return nil
				}
			}
		}
	}
}

// flagError is the error for wrong flags: it suggests the nearest flag and says where flags are explained.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := strictyaml.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			hint = strictyaml.DidYouMean("--" + near)
		}
	}
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		err = fmt.Errorf("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), wrongValue(bad))
	}
	return &failure{exitUsage, fmt.Errorf("%w%s (see %s --help)", err, hint, cmd.CommandPath())}
}

// wrongValue says what is wrong with the value of a flag, without the names of functions that have read it.
func wrongValue(bad *pflag.InvalidValueError) string {
	cause := errors.Unwrap(bad)
	switch kind := bad.GetFlag().Value.Type(); {
	case errors.Is(cause, strconv.ErrRange):
		return "too large or too small"
	case !errors.Is(cause, strconv.ErrSyntax) && kind != "duration", errors.As(cause, new(*rangeError)):
		return cause.Error()
	case kind == "duration":
		return "not a duration, as 10s or 1m30s"
	case kind == "bool":
		return "must be true or false"
	case kind == "uint64":
		return "not a whole number from 0 on"
	}
	return "not a whole number"
}

// nameArguments has every command say which arguments it takes when it was given others.
func nameArguments(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		count := cmd.Args
		if count == nil {
			continue
		}
		_, takes, _ := strings.Cut(cmd.Use, " ")
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if count(cmd, args) == nil {
				return nil
			}
			given := "none was given"
			if len(args) > 0 {
				given = fmt.Sprintf("%d given", len(args))
			}
			return &failure{exitUsage, fmt.Errorf("%s takes %s; %s (see %s --help)", cmd.Name(), cmp.Or(takes, "no arguments"), given, cmd.CommandPath())}
		}
	}
}

// meant is the question for a word that is near; empty if none is.
func meant(word string, valid []string) string {
	return strictyaml.DidYouMean(strictyaml.Nearest(word, valid))
}
