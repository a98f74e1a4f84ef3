package main

import (
	"errors"
	"fmt"
	"os"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios"
)

// failed ends the runner for an error of a run.
func failed(err error) {
	if errors.Is(err, scenarios.ErrNotRepeated) {
		fail(exitcode.NotRepeated, err)
	}
	if errors.Is(err, scenarios.ErrTiersDiffer) {
		fail(exitcode.Safety, err)
	}
	fail(exitcode.Internal, err)
}

// fail ends the runner with a code, and says why.
func fail(code exitcode.Code, why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}
