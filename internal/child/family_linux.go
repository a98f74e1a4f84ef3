package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill the process if this one ends without having done so.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// AdoptOrphans makes this process the parent of what a descendant leaves behind when it ends, as a daemon does, so that who
// stops or kills this process finds that, too.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("child: adopting orphans: %w", err)
	}
	return nil
}

// Descendants are the processes that a process has started, and those that they have. One may be left out while another exits.
func Descendants(pid int) []int {
	if tellsChildren() {
		return family(pid, childrenOf)
	}
	return family(pid, childrenByParent())
}

func family(pid int, of func(pid int) []int) (all []int) {
	all = of(pid)
	for i := 0; i < len(all); i++ {
		all = append(all, of(all[i])...)
	}
	return all
}

// tellsChildren says whether the kernel lists the children of each thread (CONFIG_PROC_CHILDREN), as those of distributions do.
var tellsChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

func childrenOf(pid int) (all []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is a good one
	for _, path := range threads {
		text, _ := os.ReadFile(path) // the thread may have exited
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field) // they are numbers
			all = append(all, child)
		}
	}
	return all
}

// childrenByParent looks at all processes there are, which takes a hundred times as long.
func childrenByParent() (of func(pid int) []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	children := map[int][]int{}
	for _, path := range files {
		if stat := statOf(path); stat != nil {
			parent, _ := strconv.Atoi(stat[1]) // they are numbers
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children[parent] = append(children[parent], child)
		}
	}
	return func(pid int) []int { return children[pid] }
}

// isStopped reports that no thread of a process can run.
func isStopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is a good one
	for _, path := range threads {
		if stat := statOf(path); stat != nil && stat[0] != "T" && stat[0] != "Z" {
			return false
		}
	}
	return true
}

// statOf are the state and the parent of a process or thread, as its file says; nil if it has ended.
func statOf(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	// They come after the name, which is in parentheses and may hold any character.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return nil
	}
	return fields[:2]
}
