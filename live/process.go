//go:build linux

package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"redlocksim/internal/output"
)

// starter starts processes that do not outlive this one. The kernel ends a child with the thread that started it, so
// all are started by one thread, which is kept.
type starter chan func()

func newStarter() starter {
	s := make(starter)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range s {
			f()
		}
	}()
	return s
}

// process is a child process in a group of its own, so that Ctrl-C reaches only its parent, who ends it in order.
type process struct {
	cmd    *exec.Cmd
	output output.Buffer // what it wrote to its standard error and, unless that is read elsewhere, output
	exited chan struct{}
}

func (s starter) start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &p.output
	if cmd.Stdout == nil {
		cmd.Stdout = &p.output
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	s <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // it is ended by signals
		close(p.exited)
	}()
	return p, nil
}

// signal sends a signal; a process that has exited does not get it.
func (p *process) signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// stop stops the process, and returns when all of its threads stand still: the signal is taken by one of them, some time
// after it was sent.
func (p *process) stop() {
	p.signal(syscall.SIGSTOP)
	for deadline := time.Now().Add(startTimeout); !p.isStopped() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// isStopped says that no thread of the process can run.
func (p *process) isStopped() bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	if err != nil {
		return true
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The state comes after the name, which is in parentheses and may hold any character.
		if i := bytes.LastIndexByte(text, ')'); !bytes.HasPrefix(text[i+1:], []byte(" T")) && !bytes.HasPrefix(text[i+1:], []byte(" Z")) {
			return false
		}
	}
	return true
}

// kill ends the process, stopped or not, and waits for its exit.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}
