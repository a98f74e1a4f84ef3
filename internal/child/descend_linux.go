package child

import (
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of what a descendant leaves behind when it ends, as a daemon does, so that who
// stops or kills this process finds that, too.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("child: adopting orphans: %w", err)
	}
	return nil
}

// settling is how long the descendants of a process may take to stand still.
const settling = time.Second

// descend sends a signal that stops, continues or kills to the descendants of a process, whatever groups and sessions they have
// made for themselves. They and the process stand still before they are killed, so that none starts another one, or again one
// that was killed.
func descend(pid int, sig syscall.Signal) {
	if sig != syscall.SIGCONT {
		stopDescendants(pid)
	}
	if sig != syscall.SIGSTOP {
		for _, d := range descendants(pid) {
			_ = syscall.Kill(d, sig) // it may have exited
		}
	}
}

// stopDescendants stops those of a process that was told to stop. Until it does, and until each of them does, there can be
// more.
func stopDescendants(pid int) {
	deadline := time.Now().Add(settling)
	awaitStop(pid, settling)
	told := map[int]bool{}
	for more := true; more; {
		more = false
		for _, d := range descendants(pid) {
			if !told[d] {
				told[d], more = true, true
				_ = syscall.Kill(d, syscall.SIGSTOP)
			}
		}
		for d := range told {
			awaitStop(d, time.Until(deadline))
		}
	}
}

// descendants are the processes that a process has started, and those that they have.
func descendants(pid int) (all []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	children := map[int][]int{}
	for _, path := range files {
		if stat := statOf(path); stat != nil {
			parent, _ := strconv.Atoi(stat[1]) // they are numbers
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children[parent] = append(children[parent], child)
		}
	}
	all = append(all, children[pid]...)
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
