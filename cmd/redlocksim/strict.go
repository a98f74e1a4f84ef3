package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios/reach"
)

func addStrict(flags *pflag.FlagSet, strict *bool) {
	flags.BoolVar(strict, "strict", false, "exit with 6 if no run used a feature of the settings")
}

// warnOfUnused warns of features that settings turn on and no run used, and says how the command ends for that.
func warnOfUnused(cmd *cobra.Command, t *reach.Tally, strict bool) exitcode.Code {
	for _, warning := range t.Warnings() {
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: warning: %s\n", warning)
	}
	if t.Blind() {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: not tested: the resource refused every write that carried no token or mark, and none carried one that it could compare: no write could be stale and no update lost")
		return exitNotTested
	}
	if strict && len(t.Unused) > 0 {
		return exitNotTested
	}
	return exitOK
}
