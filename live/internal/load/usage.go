//go:build linux

package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"redlocksim/live/internal/messages"
)

// usage is what a process uses that must not grow.
type usage struct{ goroutines, sockets int }

func currentUsage() usage { return usage{runtime.NumGoroutine(), sockets()} }

// sockets is how many sockets the process has open.
func sockets() int {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return 0
	}
	n := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// left waits until the process uses no more than before, and says what it does use more when LeaveTimeout has passed, or at
// once if closing failed.
func (before usage) left(closing error) *messages.Leftover {
	for deadline := time.Now().Add(messages.LeaveTimeout); ; time.Sleep(10 * time.Millisecond) {
		now := currentUsage()
		l := &messages.Leftover{Goroutines: max(now.goroutines-before.goroutines, 0), Connections: max(now.sockets-before.sockets, 0)}
		if l.Goroutines+l.Connections == 0 && closing == nil {
			return l
		}
		if closing != nil || time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			l.Stacks = strings.TrimSpace(fmt.Sprintln(closing, string(stacks[:runtime.Stack(stacks, true)])))
			return l
		}
	}
}
