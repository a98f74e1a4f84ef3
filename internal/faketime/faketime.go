//go:build linux

// Package faketime gives a process that is not ours, such as redis-server, a wall clock that tests set and step while it
// runs. It compiles a small C library that is preloaded into the process and answers clock_gettime, gettimeofday and time
// in place of the C library; a file that both map is the clock.
//
// [Build] makes the library, [NewClock] a clock, and the process must be started with [Clock.Env] in its environment. It
// works for programs that are linked dynamically and read their clock through the C library; Go programs do not.
package faketime

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

//go:embed preload/clock.c
var source string

// ErrNoCompiler is what errors.Is finds in the error of [Build] on a machine without a C compiler.
var ErrNoCompiler = errors.New("faketime: no C compiler cc on the PATH (Debian package gcc)")

// Build compiles the library to preload into a directory and returns its path. One library serves any number of clocks.
func Build(dir string) (library string, err error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	library = filepath.Join(dir, "faketime.so")
	build := exec.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, "-x", "c", "-")
	build.Stdin = strings.NewReader(source)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("faketime: %v: %w\n%s", build, err, output)
	}
	return library, nil
}

// Clock is a wall clock for one process or several. At first it is the real one. Its methods are safe for concurrent use.
type Clock struct {
	library, file string
	frozen        *atomic.Int64 // nanoseconds since the Unix epoch; 0 while the clock runs
	offset        *atomic.Int64 // nanoseconds ahead of the real one
}

// NewClock makes a clock, in a file of that name, for processes that preload the library. The mapping lasts as long as
// this process.
func NewClock(library, file string) (*Clock, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("faketime: %w", err)
	}
	defer f.Close()
	const size = 16 // the two numbers in clock.c
	if err := f.Truncate(size); err != nil {
		return nil, fmt.Errorf("faketime: %w", err)
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("faketime: map %s: %w", file, err)
	}
	return &Clock{
		library: library,
		file:    file,
		frozen:  (*atomic.Int64)(unsafe.Pointer(&memory[0])),
		offset:  (*atomic.Int64)(unsafe.Pointer(&memory[8])),
	}, nil
}

// Env is what the environment of the process needs, as in [exec.Cmd.Env].
func (c *Clock) Env() []string {
	return []string{"LD_PRELOAD=" + c.library, "REDLOCKSIM_FAKETIME=" + c.file}
}

// Set makes the clock read t and stand still. t must be after the Unix epoch.
func (c *Clock) Set(t time.Time) {
	if t.UnixNano() <= 0 {
		panic(fmt.Sprintf("faketime: %v is not after the Unix epoch", t))
	}
	c.frozen.Store(t.UnixNano())
}

// Step moves the clock, forward or back, and leaves it as it is otherwise: running or standing still.
func (c *Clock) Step(by time.Duration) {
	if at := c.frozen.Load(); at != 0 {
		c.Set(time.Unix(0, at).Add(by))
		return
	}
	c.offset.Add(int64(by))
}
