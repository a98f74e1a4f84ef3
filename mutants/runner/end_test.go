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

// does, in the environment, has this test binary be a run that spins, or that waits.
const does = "RUNNER_DOES"

func TestMain(m *testing.M) {
	if os.Getenv(does) == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(does) == "waits" {
		go watch(time.Second)
		begin("waits", time.Minute)
		time.Sleep(time.Minute) // and not for ever, if nothing ends it
	}
	go watch(time.Minute) // a busy machine may leave it a tenth of a second of each second, and less
	begin("spins", time.Second)
	for used() < 10*time.Second {
		for range 100_000_000 {
		}
	}
}

// A run that spins on the only processor, or waits for what will not come, is ended, and says so.
func TestWatch(t *testing.T) {
	for what, want := range map[string]string{"spins": "it spins", "waits": "it waits for ever"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), does+"="+what, "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) || exit.ExitCode() != exitcode.Internal || !strings.Contains(string(out), want) {
			t.Errorf("what %s ends with %v: %s", what, err, out)
		}
	}
}
