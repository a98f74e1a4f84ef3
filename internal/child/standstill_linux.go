package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// awaitStop returns when a process that was told to stop stands still, or after that time.
func awaitStop(pid int, within time.Duration) {
	for deadline := time.Now().Add(within); !isStopped(pid) && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// isStopped reports that no thread of a process can run.
func isStopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
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
