package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"redlocksim/internal/exitcode"
)

// process is a command to be run. It may use three minutes of processor time, several times as much as the longest, of the
// suite or the unit tests of a package, and 8 GiB of address space.
type process struct {
	binary      string
	args        []string
	directory   string
	stdin       []byte
	environment []string
	// spacious says that it may have any address space, as a race detector takes terabytes of it.
	spacious bool
}

// ending is how it ended.
type ending struct {
	code           int // -1 if it was killed
	stdout, stderr []byte
	cpu            float64 // seconds of processor time
}

// run runs the process. The error says that it could not, or that ctx ended.
func (p process) run(ctx context.Context) (ending, error) {
	bounds := "ulimit -t 180; "
	if !p.spacious {
		bounds += "ulimit -v 8388608; "
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", bounds + `exec "$0" "$@"`, p.binary}, p.args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.directory, bytes.NewReader(p.stdin), &stdout, &stderr
	cmd.Env = append(os.Environ(), p.environment...)
	cmd.WaitDelay = time.Second // for grandchildren that keep the pipes
	err := cmd.Run()
	if ctx.Err() != nil {
		return ending{}, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ending{}, err
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return ending{cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes(), used.Round(time.Millisecond).Seconds()}, nil
}

// misused is the runner's exit code for wrong arguments. Settings are right, so a bug has the library refuse them.
const misused = 64

// panicked is the exit code of a Go program that panics.
const panicked = 2

// verdicts are the exit codes that say how a bug was noticed.
var verdicts = map[int]string{
	exitcode.Safety: "safety", exitcode.Liveness: "liveness", exitcode.NotRepeated: "does not repeat", exitcode.NotTested: notTested,
}

// notTested is how a bug was noticed that has a scenario show nothing.
const notTested = "not tested"

// outcome is what the end of a runner says.
func (e ending) outcome() (outcome, error) {
	lines := strings.Split(strings.TrimSpace(string(e.stdout)), "\n")
	out := outcome{CPU: e.cpu, By: lines[len(lines)-1], How: verdicts[e.code]}
	switch {
	case e.code == exitcode.OK:
		out.By = ""
	case out.How != "":
	case e.code == misused && bytes.HasPrefix(e.stderr, []byte("settings")):
		out.How, out.By = "refused", strings.TrimSpace(string(e.stderr))
	case e.code == exitcode.Internal, e.code == panicked, e.code == -1:
		out.How = e.crash()
	default:
		return out, fmt.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	return out, nil
}

// crash says in a word or two how a process ended that came to no verdict.
func (e ending) crash() string {
	for _, sign := range []struct{ text, how string }{
		{"it spins", "spins"}, {"it waits for ever", "hangs"}, {"SIGXCPU", "spins"}, {"DATA RACE", "data race"}, {"all goroutines are asleep", "deadlock"},
		{"deadlock:", "deadlock"}, {"test timed out", "hangs"}, {"out of memory", "out of memory"}, {"panic", "panic"}, {"fatal error", "panic"},
	} {
		if bytes.Contains(e.stderr, []byte(sign.text)) || bytes.Contains(e.stdout, []byte(sign.text)) {
			return sign.how
		}
	}
	if e.code == -1 {
		return "spins"
	}
	return "no verdict"
}
