// Package retry retries tests on real processes that a busy machine can fail, with longer times each time. If the machine held
// up every attempt, the test fails as not tested.
package retry

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"redlocksim/internal/stall"
)

// T is one attempt at a test. Its errors fail the test only if the attempt counts; all else is the test's, clean-ups too.
type T struct {
	testing.TB
	// Slower is by how much the test must multiply its times in this attempt: 1, 2, 3 …
	Slower time.Duration

	mu       sync.Mutex
	problems []string
	found    bool
}

// ended is what Fatal and Fatalf panic with.
type ended struct{}

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
		a := &T{TB: t, Slower: time.Duration(n)}
		a.try(test)
		m.Stop()
		heldUp, waited, took := m.Longest(), m.Waited(), time.Since(began)
		problems := strings.Join(a.problems, "\n")
		switch {
		case problems == "":
			return
		case a.found || heldUp < disturbing && waited < took/2:
			t.Error(problems)
			return
		case n == stall.MaxAttempts:
			t.Fatalf("not tested: the machine held up each of %d attempts, of the last of which came:\n%s", n, problems)
		}
		t.Logf("attempt %d does not count: the machine held it up for %v, and threads waited for %v of %v. It came to\n%s",
			n, heldUp.Round(time.Millisecond), waited.Round(time.Millisecond), took.Round(time.Millisecond), problems)
	}
}

func (t *T) try(test func(*T)) {
	defer func() {
		if p := recover(); p != nil && p != (ended{}) {
			panic(p)
		}
	}()
	test(t)
}

// problem notes what went wrong.
func (t *T) problem(text string) {
	_, file, line, _ := runtime.Caller(2)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, fmt.Sprintf("%s:%d: %s", filepath.Base(file), line, strings.TrimSpace(text)))
}

// Found fails the test, whatever the machine did: for what no delay excuses, such as two holders of a lock.
func (t *T) Found(format string, args ...any) {
	t.problem(fmt.Sprintf(format, args...))
	t.found = true
}

// Error, Errorf, Fatal and Fatalf are those of testing.TB. The last two must be called by the test's own goroutine.
func (t *T) Error(args ...any)                 { t.problem(fmt.Sprintln(args...)) }
func (t *T) Errorf(format string, args ...any) { t.problem(fmt.Sprintf(format, args...)) }

func (t *T) Fatal(args ...any) {
	t.problem(fmt.Sprintln(args...))
	panic(ended{})
}

func (t *T) Fatalf(format string, args ...any) {
	t.problem(fmt.Sprintf(format, args...))
	panic(ended{})
}
