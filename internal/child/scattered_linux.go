package child

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// signalChildren sends a signal to the processes that a process has started and not waited for. It stands still meanwhile, so
// that it starts no more, and starts none again that was killed.
func signalChildren(pid int, sig syscall.Signal) {
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return // it has exited
	}
	awaitStop(pid, time.Second)
	for _, child := range childrenOf(pid) {
		_ = syscall.Kill(child, sig) // it may have exited
	}
}

func childrenOf(pid int) (found []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(string(text)) {
		var child int
		if _, err := fmt.Sscan(word, &child); err == nil {
			found = append(found, child)
		}
	}
	return found
}
