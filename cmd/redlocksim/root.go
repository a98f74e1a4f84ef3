package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/printable"
)

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "redlocksim: internal error: %s\n", printable.Lines(fmt.Sprint(p)))
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
		fmt.Fprintf(fitted(stderr), "redlocksim: %s\n", printable.Lines(printable.Short(f.err.Error(), shownFailure)))
	}
	return f.code
}

// shownFailure is how much of an error is shown, in bytes. Some of it may be what a server or a program says.
const shownFailure = 64 << 10

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "redlocksim",
		Short: "Test whether a distributed lock on Redis is safe",
		Long: `redlocksim tests distributed locks on Redis. It runs the redlock library, the
same code that production uses, in a deterministic simulator: clients, Redis
nodes, clocks and a network in virtual time. Scenarios inject faults on a
timeline. A checker reports whether two clients ever held the lock at once, and
shows when and why.

Start with
  redlocksim list                      list the scenarios
  redlocksim run 17-clock-jump         run one and tell what happened
  redlocksim run 17-clock-jump --why   why it broke, and what would prevent it
  redlocksim new my-settings.yaml      write a scenario of your own
  redlocksim run my-settings.yaml      run it
  redlocksim suite                     run every scenario on both tiers
  redlocksim explore my-settings.yaml  search for failures nobody wrote down

No command replaces a file that it reads or, without --force, one that
redlocksim did not write.

` + exitcode.HelpOnAll(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Args = knownCommand(root)
	root.AddCommand(newList(), newRun(), newSuite(), newSweep(), newAudit(), newPlay(), newExplore(), newCheck(),
		newLiveClient(), newLocks(), newKeys(),
		newNew(), newLint(), newWork())
	root.Version = versions(buildInfo())
	root.Flags().Bool("version", false, "print the versions of redlocksim and of what results depend on")
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}")
	limitFlags(root)
	nameArguments(root)
	limitGenerated(root)
	addExitCodes(root)
	fitHelp(root)
	return root
}
