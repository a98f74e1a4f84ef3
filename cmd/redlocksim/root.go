package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
)

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "redlocksim: internal error: %v\n", p)
			code = exitInternal
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	out := &delivery{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	f := out.failureOf(failureOf(root.Execute()))
	if f == nil {
		return exitOK
	}
	if f.err != nil {
		fmt.Fprintf(stderr, "redlocksim: %v\n", f.err)
	}
	return f.code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "redlocksim",
		Short: "Find out whether a distributed lock on Redis is safe",
		Long: `redlocksim runs a distributed lock, the very library that production uses, in a
deterministic simulator: clients, Redis nodes, clocks and a network in virtual
time, with faults placed on a timeline. A checker says whether two clients ever
held the lock together, and shows when and why.

Start with
  redlocksim list                     what scenarios there are
  redlocksim run 17-clock-jump        one of them, told as a story
  redlocksim explain 17-clock-jump    why it ends so, and what would have prevented it
  redlocksim new my-settings.yaml     a file of your own to start from
  redlocksim run my-settings.yaml     run it
  redlocksim suite                    all of them, on both tiers
  redlocksim explore my-settings.yaml a search for what nobody wrote down

` + exitcode.HelpOnAll(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newList(), newRun(), newSuite(), newSweep(), newAdvise(), newExplore(), newMerge(), newCheck(), newLiveClient(), newSoak(), newVerdicts(), newKeys())
	root.AddCommand(newNew(), newLint(), newExplain(), newSchema(), newVersion())
	root.Version = version(buildInfo())
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("redlocksim {{.Version}}\n")
	addCompletions(root)
	addExitCodes(root)
	limitFlags(root)
	return root
}
