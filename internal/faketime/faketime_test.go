//go:build linux

package faketime

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reader prints what the three functions read, in nanoseconds, and the monotonic clock, whenever a line comes.
const reader = `
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
int main(void) {
	char line[8];
	while (fgets(line, sizeof line, stdin)) {
		struct timespec a, m; struct timeval b;
		clock_gettime(CLOCK_REALTIME, &a); gettimeofday(&b, NULL); time_t c = time(NULL); clock_gettime(CLOCK_MONOTONIC, &m);
		printf("%lld %lld %lld %lld\n", a.tv_sec * 1000000000LL + a.tv_nsec, b.tv_sec * 1000000000LL + b.tv_usec * 1000,
			c * 1000000000LL, m.tv_sec * 1000000000LL + m.tv_nsec);
		fflush(stdout);
	}
}`

// library is the library, built into a directory. Without a C compiler the test is skipped.
func library(t *testing.T, dir string) string {
	t.Helper()
	path, err := Build(dir)
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startReader starts a process with these clocks. read is what it reads of the wall clock, by functions of which the second
// rounds to microseconds and the third to seconds, and of the monotonic clock.
func startReader(t *testing.T, dir string, c *Clocks) (read func() (exact, micro, second time.Time, mono time.Duration)) {
	t.Helper()
	env := c.Preload(library(t, dir))
	program := filepath.Join(dir, "reader")
	build := exec.Command("cc", "-o", program, "-x", "c", "-")
	build.Stdin = strings.NewReader(reader)
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), env...)
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return func() (exact, micro, second time.Time, mono time.Duration) {
		t.Helper()
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		var wall [3]int64
		if _, err := fmt.Fscanln(out, &wall[0], &wall[1], &wall[2], (*int64)(&mono)); err != nil {
			t.Fatal(err)
		}
		return time.Unix(0, wall[0]), time.Unix(0, wall[1]), time.Unix(0, wall[2]), mono
	}
}

func TestClock(t *testing.T) {
	dir := t.TempDir()
	clock, err := New(filepath.Join(dir, "clock"))
	if err != nil {
		t.Fatal(err)
	}
	read := startReader(t, dir, clock)
	// ahead checks that the clock runs, and is ahead of the real one by that much.
	ahead := func(by time.Duration) {
		t.Helper()
		before := time.Now().Add(by)
		exact, micro, second, _ := read()
		after := time.Now().Add(by)
		if exact.Before(before) || exact.After(after) {
			t.Errorf("clock_gettime: %v, want between %v and %v", exact, before, after)
		}
		if micro.Before(before.Truncate(time.Microsecond)) || micro.After(after) {
			t.Errorf("gettimeofday: %v, want between %v and %v", micro, before, after)
		}
		if second.Before(before.Truncate(time.Second)) || second.After(after) {
			t.Errorf("time: %v, want between %v and %v", second, before, after)
		}
	}
	stands := func(at time.Time) {
		t.Helper()
		for range 2 {
			exact, micro, second, _ := read()
			if !exact.Equal(at) || !micro.Equal(at.Truncate(time.Microsecond)) || !second.Equal(at.Truncate(time.Second)) {
				t.Errorf("%v, %v and %v, want %v", exact, micro, second, at)
			}
		}
	}

	_, _, _, start := read()
	ahead(0)
	clock.Step(3 * time.Hour)
	ahead(3 * time.Hour)
	clock.Step(-4 * time.Hour)
	ahead(-time.Hour)
	at := time.Unix(1_700_000_000, 123_456_789)
	clock.StandAt(at)
	stands(at)
	clock.Step(time.Millisecond)
	stands(at.Add(time.Millisecond))
	clock.Step(-time.Hour)
	stands(at.Add(time.Millisecond - time.Hour))
	// It goes on from where it stands, twice as fast.
	stood := at.Add(time.Millisecond - time.Hour)
	before := MachineTime()
	clock.SetRate(Billion)
	exact, _, _, _ := read()
	if ran := exact.Sub(stood); ran <= 0 || ran > 2*time.Duration(MachineTime()-before) {
		t.Errorf("it ran %v in at most %v", ran, time.Duration(MachineTime()-before))
	}
	if _, _, _, end := read(); end <= start || end-start > time.Hour/2 {
		t.Errorf("the monotonic clock went from %v to %v", start, end)
	}
}

func TestWithoutACompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.TempDir()); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("error %v", err)
	}
}

// A process whose clock cannot be mapped must not run on the real one.
func TestMissingClock(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("date")
	cmd.Env = append(os.Environ(), (&Clocks{path: filepath.Join(dir, "none")}).Preload(library(t, dir))...)
	if output, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(output), "none") {
		t.Errorf("error %v, output %s", err, output)
	}
}
