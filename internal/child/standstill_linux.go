package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// awaitStop returns when a process that was told to stop stands still, and reports whether it did within that time.
func awaitStop(pid int, within time.Duration) bool {
	for deadline := time.Now().Add(within); !isStopped(pid); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// isStopped reports that no thread of a process can run.
func isStopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	for _, path := range threads {
		if stat := statOf(path); stat != nil && stat[0] != "T" && stat[0] != "Z" {
			return false
		}
	}
	return true
}

// inGroup are the processes of a group.
func inGroup(group int) (found []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, path := range all {
		if stat := statOf(path); stat != nil && stat[2] == strconv.Itoa(group) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // it is a number
			found = append(found, pid)
		}
	}
	return found
}

// statOf are the state, the parent and the group of a process or thread, as its file says; nil if it has ended.
func statOf(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	// They come after the name, which is in parentheses and may hold any character.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 3 {
		return nil
	}
	return fields[:3]
}
