package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios/verdict"
)

// misused is neither an exit code of the project nor of Go: what causes it is the command line, or a bug that has the library
// refuse settings that are right.
const misused exitcode.Code = 64

// failed ends the runner for an error of a run.
func failed(err error) {
	switch {
	case errors.Is(err, verdict.ErrNotRepeated):
		fail(exitcode.NotRepeated, err)
	case errors.Is(err, verdict.ErrTiersDiffer):
		fail(exitcode.Safety, err)
	}
	fail(exitcode.Internal, err)
}

// fail ends the runner with a code, and says why.
func fail(code exitcode.Code, why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}

// The bounds of what the runner does. They are of processor time and not of time, because the machine may be busy.
const (
	// scenarioLimit is how much processor time a scenario may take, and searchLimit how much a search may beyond what it was
	// given: ten times as much as any scenario or run does.
	scenarioLimit = 20 * time.Second
	searchLimit   = 30 * time.Second
	// A process that uses less than idle in patience waits for something that will not come.
	patience, idle = 20 * time.Second, 100 * time.Millisecond
)

// allowed is how much processor time the process may have used when what it does is done.
var allowed atomic.Int64

// begin says what is done next, so that the last line is what a process was doing that ended in any way, and how much processor
// time it may take.
func begin(what string, limit time.Duration) {
	fmt.Println(what)
	allowed.Store(int64(used() + limit))
}

// watch ends the process when what it does takes too much processor time, or does nothing for as long as the patience lasts.
// The scheduler lets it run beside a goroutine that spins on the only processor.
func watch(patience time.Duration) {
	seen, at := used(), time.Now()
	for range time.Tick(100 * time.Millisecond) {
		limit := time.Duration(allowed.Load()) // zero before anything is begun
		switch now := used(); {
		case limit > 0 && now > limit:
			fail(exitcode.Internal, "it spins")
		case now-seen > idle:
			seen, at = now, time.Now()
		case time.Since(at) > patience:
			fail(exitcode.Internal, "it waits for ever")
		}
	}
}

// used is the processor time that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		failed(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
