// Package retry retries tests on real processes that a busy machine can fail, with longer times each time. If the machine held
// up every attempt, the test fails as not tested.
package retry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"redlocksim/internal/stall"
)

// T is one attempt at a test. It fails the test only if the attempt counts. Its methods are those of testing.TB, and as safe
// for concurrent use; clean-ups run, and files are removed, at the end of the attempt.
type T struct {
	testing.TB
	// Slower is by how much the test must multiply its times in this attempt: 1, 2, 3 …
	Slower time.Duration

	ctx      context.Context
	mu       sync.Mutex
	problems []string
	found    bool
	skipped  bool
	cleanups []func()
}

// Test runs a test until an attempt counts: it passes, or the machine was not busy, or it Found what no delay excuses;
// stall.MaxAttempts times at the most. A machine is busy if it holds something up for as long as disturbing, or if threads wait
// for a processor half of the time: each of them for a moment, and all that a process does takes twice as long.
func Test(t testing.TB, disturbing time.Duration, test func(*T)) {
	t.Helper()
	until(t, disturbing, test, stall.Start)
}

// meter is a stall.Meter.
type meter interface {
	Longest() time.Duration
	Waited() time.Duration
	Stop()
}

func until[M meter](t testing.TB, disturbing time.Duration, test func(*T), begin func() M) {
	t.Helper()
	for n := 1; ; n++ {
		m, began := begin(), time.Now()
		a := attempt(t, n, test)
		m.Stop()
		heldUp, waited, took := m.Longest(), m.Waited(), time.Since(began)
		busy := fmt.Sprintf("for %v, and threads waited for %v of %v", heldUp.Round(time.Millisecond), waited.Round(time.Millisecond), took.Round(time.Millisecond))
		switch {
		case a.skipped:
			t.SkipNow()
		case len(a.problems) == 0:
			return
		case a.found || heldUp < disturbing && waited < took/2:
			for _, text := range a.problems {
				t.Error(text)
			}
			return
		case n == stall.MaxAttempts:
			t.Fatalf("not tested: the machine held up each of %d attempts, the last one %s, of which came:\n%s", n, busy, strings.Join(a.problems, "\n"))
		}
		t.Logf("attempt %d does not count: the machine held it up %s, and it came to\n%s", n, busy, strings.Join(a.problems, "\n"))
	}
}

// attempt makes one attempt, in a goroutine of its own, which it may end.
func attempt(t testing.TB, n int, test func(*T)) *T {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &T{TB: t, Slower: time.Duration(n), ctx: ctx}
	isOver := make(chan any)
	in := func(f func()) {
		go func() {
			defer func() { isOver <- recover() }()
			f()
		}()
		if p := <-isOver; p != nil {
			panic(p)
		}
	}
	in(func() { test(a) })
	cancel()
	for a.cleanUp(in) {
	}
	return a
}

// cleanUp runs the last registered clean-up, if there is one, and reports whether there was.
func (t *T) cleanUp(in func(func())) bool {
	t.mu.Lock()
	last := len(t.cleanups) - 1
	if last < 0 {
		t.mu.Unlock()
		return false
	}
	f := t.cleanups[last]
	t.cleanups = t.cleanups[:last]
	t.mu.Unlock()
	in(f)
	return true
}

// problem notes what went wrong.
func (t *T) problem(text string) {
	callers := make([]uintptr, 20)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	frame, _ := frames.Next()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, fmt.Sprintf("%s:%d: %s", filepath.Base(frame.File), frame.Line, strings.TrimSpace(text)))
}

// Found fails the test, whatever the machine did: for what no delay excuses, such as two holders of a lock.
func (t *T) Found(format string, args ...any) {
	t.problem(fmt.Sprintf(format, args...))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.found = true
}

func (t *T) Error(args ...any)                 { t.problem(fmt.Sprintln(args...)) }
func (t *T) Errorf(format string, args ...any) { t.problem(fmt.Sprintf(format, args...)) }
func (t *T) Fail()                             { t.problem("failed") }

func (t *T) Fatal(args ...any) {
	t.problem(fmt.Sprintln(args...))
	runtime.Goexit()
}

func (t *T) Fatalf(format string, args ...any) {
	t.problem(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (t *T) FailNow() {
	t.problem("failed")
	runtime.Goexit()
}

// Context ends before the clean-ups of the attempt are run.
func (t *T) Context() context.Context { return t.ctx }

func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.problems) > 0
}

func (t *T) Skip(args ...any) {
	t.Log(args...)
	t.SkipNow()
}

func (t *T) Skipf(format string, args ...any) {
	t.Logf(format, args...)
	t.SkipNow()
}

func (t *T) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}

func (t *T) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *T) TempDir() string {
	dir, err := os.MkdirTemp("", "retry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
