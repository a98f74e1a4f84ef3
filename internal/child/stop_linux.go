package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Stop stops the process, and returns when all of its threads stand still, or after that time: the signal is taken by one of
// them, some time after it was sent. SIGCONT lets the process go on.
func (p *Process) Stop(within time.Duration) {
	_ = p.Signal(syscall.SIGSTOP)
	for deadline := time.Now().Add(within); !p.isStopped() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// isStopped reports that no thread of the process can run.
func (p *Process) isStopped() bool {
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
