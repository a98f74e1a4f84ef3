package retry

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/stall"
)

// spy is a test that takes down what becomes of it.
type spy struct {
	testing.TB
	errors  []string
	stopped bool
}

func (s *spy) Helper()             {}
func (s *spy) Log(...any)          {}
func (s *spy) Logf(string, ...any) {}
func (s *spy) Error(args ...any)   { s.errors = append(s.errors, fmt.Sprint(args...)) }
func (s *spy) Fatalf(f string, args ...any) {
	s.errors, s.stopped = append(s.errors, fmt.Sprintf(f, args...)), true
	runtime.Goexit()
}

// still is a meter that was told by how much it was held up, and for how long threads waited.
type still struct{ longest, waited time.Duration }

func (s still) Longest() time.Duration { return s.longest }
func (s still) Waited() time.Duration  { return s.waited }
func (s still) Stop()                  {}

const disturbing = 10 * time.Millisecond

// tryOn runs attempts on a machine that is so busy in each.
func tryOn(t *testing.T, machine []still, test func(*T)) *spy {
	t.Helper()
	s, n := &spy{TB: t}, 0
	done := make(chan bool)
	go func() {
		defer close(done)
		until(s, disturbing, test, func() still { n++; return machine[min(n, len(machine))-1] })
	}()
	<-done
	return s
}

func TestWhichAttemptCounts(t *testing.T) {
	calm, busy, crowded := still{longest: disturbing - 1}, still{longest: disturbing}, still{waited: time.Hour}
	fails := func(t *T, _ int) { t.Errorf("wrong") }
	failsAtOnce := func(t *T, _ int) { t.Fatal("wrong") }
	passesAt := func(n int) func(*T, int) {
		return func(t *T, i int) {
			if i < n {
				t.Fatalf("wrong")
			}
		}
	}
	for _, test := range []struct {
		name     string
		machine  []still
		attempt  func(t *T, n int)
		attempts int
		want     string // in the first error; empty: it passes
	}{
		{"passes", []still{calm}, passesAt(1), 1, ""},
		{"passes, held up", []still{busy}, passesAt(1), 1, ""},
		{"fails", []still{calm}, fails, 1, "wrong"},
		{"fails at once", []still{calm}, failsAtOnce, 1, "wrong"},
		{"held up, then passes", []still{busy}, passesAt(3), 3, ""},
		{"held up, then fails", []still{busy, busy, calm}, fails, 3, "wrong"},
		{"crowded, then fails", []still{crowded, calm}, fails, 2, "wrong"},
		{"always held up", []still{busy}, failsAtOnce, stall.MaxAttempts, "not tested: the machine held"},
		{"the last passes", []still{busy}, passesAt(stall.MaxAttempts), stall.MaxAttempts, ""},
		{"two holders, held up", []still{busy}, func(t *T, _ int) { t.Found("two holders") }, 1, "two holders"},
	} {
		n := 0
		s := tryOn(t, test.machine, func(a *T) {
			n++
			if a.Slower != time.Duration(n) {
				t.Errorf("%s: attempt %d is slower by %d", test.name, n, a.Slower)
			}
			test.attempt(a, n)
		})
		if n != test.attempts || (len(s.errors) == 0) != (test.want == "") || len(s.errors) > 0 && !strings.Contains(s.errors[0], test.want) {
			t.Errorf("%s: %d attempts and %q, want %d and %q", test.name, n, s.errors, test.attempts, test.want)
		}
		if s.stopped != (test.name == "always held up") {
			t.Errorf("%s: stopped: %v", test.name, s.stopped)
		}
	}
}
