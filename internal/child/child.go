//go:build unix

// Package child starts processes that do not outlive this one, and keeps what they write for the message of a failure.
package child

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is a process that was started. Its methods are safe for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	output output
	exited chan struct{}
}

// Start starts a process. Its standard error is kept, and its standard output unless cmd says where that goes. On Linux the
// kernel kills the process when this one ends, however it ends.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &p.output
	if cmd.Stdout == nil {
		cmd.Stdout = &p.output
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	dieWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		// The kernel ends a child with the thread that started it, so this one is kept as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is ended by signals
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// InOwnGroup has a command started in a process group of its own, so that Ctrl-C reaches only this process, which ends its
// children in order.
func InOwnGroup(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	return cmd
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output is what the process has written so far, or the end of that.
func (p *Process) Output() string { return p.output.String() }

// Exited is closed when the process has exited.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status says how the process exited, once it has.
func (p *Process) Status() string { return p.cmd.ProcessState.String() }

// Signal sends a signal. The error is os.ErrProcessDone for a process that has exited. What continues or kills it does so, on
// Linux, to all that it has started, too.
func (p *Process) Signal(sig syscall.Signal) error {
	if sig == syscall.SIGKILL {
		_ = p.Stop(settling) // so that none starts another one, or again one that was killed
	}
	if (sig == syscall.SIGKILL || sig == syscall.SIGCONT) && p.isRunning() {
		for _, d := range Descendants(p.PID()) {
			_ = syscall.Kill(d, sig) // it may have exited
		}
	}
	return p.cmd.Process.Signal(sig)
}

// settling is how long what is to be killed may take to stand still.
const settling = time.Second

// Stop stops the process and all that it has started, whatever groups and sessions they have made for themselves, and returns
// when none of their threads can run: a signal is taken by one thread of a process, some time after it was sent. The error says
// what still ran after that time. SIGCONT lets them go on.
func (p *Process) Stop(within time.Duration) error { return p.stop(within, isStopped) }

func (p *Process) stop(within time.Duration, isStopped func(pid int) bool) error {
	deadline := time.Now().Add(within)
	told := map[int]bool{}
	// Until all stand still there can be more, and one may have been left out as another exited.
	for quiet := 0; quiet < 2 && p.isRunning(); quiet++ {
		for _, pid := range append([]int{p.PID()}, Descendants(p.PID())...) {
			if !told[pid] {
				told[pid], quiet = true, -1
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
			for !isStopped(pid) {
				if time.Now().After(deadline) {
					return fmt.Errorf("child: process %d still runs %v after it was told to stop", pid, within)
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
	}
	return nil
}

func (p *Process) isRunning() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// End sends a signal and reports whether the process exited within that time.
func (p *Process) End(sig syscall.Signal, within time.Duration) bool {
	_ = p.Signal(sig)
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// Kill ends the process, stopped or not, and waits for its exit.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL)
	<-p.exited
}

// mostOutput is how much is kept of what a process writes, in bytes.
const mostOutput = 32 << 10

// output takes what a process writes while others read it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.buf.Write(p)
	if o.buf.Len() > 2*mostOutput {
		o.cut()
	}
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cut()
	return o.buf.String()
}

// cut leaves the end of what was written.
func (o *output) cut() {
	o.buf.Next(max(0, o.buf.Len()-mostOutput))
}
