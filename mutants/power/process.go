package power

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"redlocksim/internal/exitcode"
)

// The bounds of a process. They are of processor time and not of time, because the machine may be busy.
const (
	// most is how much processor time a process may use: several times as much as the longest, of the suite or the unit tests
	// of a package.
	most = 3 * time.Minute
	// memory is how much address space it may have.
	memory = 8 << 30
	// A process that uses less than idle in patience waits for something that will not come.
	patience, idle = 30 * time.Second, time.Second
	// patienceLive is the patience on tier live, where the runner ends what waits for ever.
	patienceLive = 5 * time.Minute
)

// process is a command to be run within the bounds.
type process struct {
	binary      string
	args        []string
	directory   string
	stdin       string
	environment []string
	// patience is for how long it may do nothing; zero means the constant of that name.
	patience time.Duration
	// spacious says that it may have any address space, as a race detector takes terabytes of it.
	spacious bool
}

// ending is how it ended.
type ending struct {
	code           int // -1 if it was killed
	idle           bool
	stdout, stderr []byte
	cpu            time.Duration
}

// run runs the process. The error says that it could not, or that ctx ended.
func (p process) run(ctx context.Context) (ending, error) {
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	cmd := exec.CommandContext(ctx, p.binary, p.args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.directory, strings.NewReader(p.stdin), &stdout, &stderr
	cmd.Env = append(os.Environ(), p.environment...)
	cmd.WaitDelay = time.Second // for grandchildren that keep the pipes
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	limits := map[int]uint64{unix.RLIMIT_CPU: uint64(most / time.Second), unix.RLIMIT_AS: memory}
	if p.spacious {
		delete(limits, unix.RLIMIT_AS)
	}
	for limit, n := range limits {
		err := unix.Prlimit(cmd.Process.Pid, limit, &unix.Rlimit{Cur: n, Max: n + 5}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) { // it has ended, or its bounds are closer
			kill(err)
		}
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(ctx, cmd.Process.Pid, cmp.Or(p.patience, patience), kill)
	}()
	err := cmd.Wait()
	cause := context.Cause(ctx)
	kill(nil)
	<-watched
	e := ending{stdout: stdout.Bytes(), stderr: stderr.Bytes(), code: cmd.ProcessState.ExitCode(),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if e.idle = errors.Is(cause, errIdle); cause != nil && !e.idle {
		return e, cause
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && !e.idle {
		return e, err
	}
	return e, nil
}

var errIdle = errors.New("waits for ever")

// watch ends a process that does nothing for as long as the patience lasts.
func watch(ctx context.Context, pid int, patience time.Duration, kill context.CancelCauseFunc) {
	for used := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patience):
		}
		now, err := usedBy(pid)
		if err != nil {
			return // it has ended
		}
		if now-used < idle {
			kill(errIdle)
			return
		}
		used = now
	}
}

// usedBy is the processor time that a process has used, with that of its children that have ended.
func usedBy(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	if err != nil {
		return 0, err
	}
	var ticks [4]int64 // utime, stime, cutime, cstime: the 14th field and those after it, see proc(5)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for i := range ticks {
		if _, err := fmt.Sscan(fields[11+i], &ticks[i]); err != nil {
			return 0, err
		}
	}
	return time.Duration(ticks[0]+ticks[1]+ticks[2]+ticks[3]) * (time.Second / 100), nil
}

// outcome is what the end of a runner says.
func (e ending) outcome() (Outcome, error) {
	lines := strings.Split(strings.TrimSpace(string(e.stdout)), "\n")
	out := Outcome{CPU: e.cpu.Seconds(), By: lines[len(lines)-1]}
	switch e.code {
	case exitcode.OK:
		out.By = ""
		return out, nil
	case exitcode.Safety:
		out.How = "safety"
	case exitcode.Liveness:
		out.How = "liveness"
	case exitcode.NotRepeated:
		out.How = "does not repeat"
	case exitcode.NotTested:
		out.How = "not tested"
	case misused:
		if !bytes.HasPrefix(e.stderr, []byte("settings")) {
			return out, fmt.Errorf("the runner was misused: %s", e.stderr)
		}
		out.How, out.By = "refused", strings.TrimSpace(string(e.stderr))
	case exitcode.Internal, panicked, -1:
		out.How = e.crash()
	default:
		return out, fmt.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	return out, nil
}

// misused is the runner's exit code for wrong arguments. Settings are right, so a bug has the library refuse them.
const misused = 64

// panicked is the exit code of a Go program that panics.
const panicked = 2

// crash says in a word or two how a process ended that came to no verdict.
func (e ending) crash() string {
	for _, sign := range []struct{ text, how string }{
		{"SIGXCPU", "spins"}, {"DATA RACE", "data race"}, {"all goroutines are asleep", "deadlock"}, {"deadlock:", "deadlock"}, {"test timed out", "hangs"},
		{"out of memory", "out of memory"}, {"panic", "panic"}, {"fatal error", "panic"},
	} {
		if bytes.Contains(e.stderr, []byte(sign.text)) || bytes.Contains(e.stdout, []byte(sign.text)) {
			return sign.how
		}
	}
	switch {
	case e.idle:
		return "hangs"
	case e.code == -1:
		return "spins"
	}
	return "no verdict"
}
