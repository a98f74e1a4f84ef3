package redlocktest

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"redlocksim/redlock"
)

// stack is where a goroutine was. It has room for the library's own calls and the one above them.
type stack [24]uintptr

// callers is the stack of the caller's caller.
func callers() (s stack) {
	runtime.Callers(3, s[:])
	return s
}

// place is the line outside of the library that called it, or "" if a goroutine of the library's own did.
func (s stack) place() string {
	n := slices.Index(s[:], 0)
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		return ""
	}
	frames := runtime.CallersFrames(s[:n])
	for {
		frame, more := frames.Next()
		switch {
		case slices.ContainsFunc(library, func(path string) bool { return strings.HasPrefix(frame.Function, path) }):
		case frame.Function == "time.goFunc", frame.Function == "runtime.goexit":
			return ""
		default:
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// library is what the names of the library's functions begin with: the paths of its packages.
var library = func() []string {
	of := reflect.TypeFor[redlock.Client]().PkgPath()
	return []string{of + ".", reflect.TypeFor[node]().PkgPath() + ".", path.Dir(of) + "/internal/"}
}()
