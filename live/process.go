//go:build linux

package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"redlocksim/internal/child"
	"redlocksim/internal/redisproc"
)

// process is a redis-server or client process.
type process struct{ *child.Process }

// inOwnGroup has a command started in a process group of its own, so that Ctrl-C reaches only this process, which ends its
// children in order.
func inOwnGroup(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// signal sends a signal; a process that has exited does not get it.
func (p *process) signal(sig syscall.Signal) { _ = p.Signal(sig) }

// stop stops the process, and returns when all of its threads stand still: the signal is taken by one of them, some time
// after it was sent.
func (p *process) stop() {
	p.signal(syscall.SIGSTOP)
	for deadline := time.Now().Add(redisproc.Patience); !p.isStopped() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// isStopped says that no thread of the process can run.
func (p *process) isStopped() bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID()))
	if err != nil {
		return true
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The state comes after the name, which is in parentheses and may hold any character.
		state := text[bytes.LastIndexByte(text, ')')+1:]
		if !bytes.HasPrefix(state, []byte(" T")) && !bytes.HasPrefix(state, []byte(" Z")) {
			return false
		}
	}
	return true
}
