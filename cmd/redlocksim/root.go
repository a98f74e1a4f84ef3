package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redlocksim/scenarios"
)

// The exit codes, as the help text has them.
const (
	exitOK       = 0
	exitSafety   = 1
	exitUsage    = 2
	exitLiveness = 3
	exitRepeat   = 4
	exitInternal = 5
)

const exitHelp = `Exit codes:
  0  as expected
  1  a safety verdict other than expected
  2  bad input or usage
  3  a liveness verdict other than expected
  4  the run did not repeat itself
  5  internal error`

// failure is an error with the exit code it stands for.
type failure struct {
	code int
	err  error // nil: everything has been said
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

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
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	f := (*failure)(nil)
	if !errors.As(err, &f) {
		// Everything that cobra itself finds is a mistake in the command line.
		f = &failure{exitUsage, fmt.Errorf("%w (redlocksim --help says more)", err)}
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

` + exitHelp,
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
	return root
}

// wrap gives an error of the scenarios package its exit code.
func wrap(err error) error {
	if errors.Is(err, scenarios.ErrNotRepeated) {
		return &failure{exitRepeat, err}
	}
	return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
}

// verdictCode is the exit code for the problems of some runs: safety before liveness.
func verdictCode(results ...*scenarios.Result) int {
	code := exitOK
	for _, r := range results {
		switch {
		case r.Has(scenarios.Safety):
			return exitSafety
		case r.Has(scenarios.Liveness):
			code = exitLiveness
		}
	}
	return code
}
