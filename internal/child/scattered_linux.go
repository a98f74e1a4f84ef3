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
	children, err := childrenOf(pid)
	if err != nil {
		return // it has exited: that the kernel tells was seen when it was started
	}
	for _, child := range children {
		_ = syscall.Kill(child, sig) // it may have exited
	}
}

// childrenOf are the processes that the main thread of a process has started.
func childrenOf(pid int) (found []int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(string(text)) {
		var child int
		if _, err := fmt.Sscan(word, &child); err == nil {
			found = append(found, child)
		}
	}
	return found, nil
}
