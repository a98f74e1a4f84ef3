//go:build unix

package child

import (
	"os"
	"time"
)

// EndWithParent has this process end, without a chance to do anything, when the one that started it has ended without having
// ended it. It is for processes that Start has not started, and whose children Start has.
func EndWithParent() {
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(often)
		}
		kill()
	}()
}

// often is how often a process looks for its parent.
const often = 100 * time.Millisecond

func kill() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	os.Exit(1)
}
