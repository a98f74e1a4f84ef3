package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/exitcode"
)

// spins, in the environment, has this test binary be a run that spins.
const spins = "RUNNER_SPINS"

func TestMain(m *testing.M) {
	if os.Getenv(spins) == "" {
		os.Exit(m.Run())
	}
	limit(0)
	for used() < 5*time.Second { // and not for ever, if nothing ends it
		for range 100_000_000 {
		}
	}
}

// A run that spins on the only processor ends at its limit, and says so.
func TestLimit(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), spins+"=yes", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != exitcode.Internal || !strings.Contains(string(out), "SIGXCPU") {
		t.Errorf("it ends with %v: %s", err, out)
	}
}
