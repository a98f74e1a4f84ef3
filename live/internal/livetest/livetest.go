//go:build linux

// Package livetest is what the tests of tier live share: they need redis-server, and must leave nothing behind.
package livetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redlocksim/internal/child"
	"redlocksim/internal/redisserver"
	"redlocksim/live/internal/server"
)

// Disturbing is for how long a machine must hold up a test of small times for it to be tried again.
const Disturbing = 25 * time.Millisecond

// atOnce is how many tests run at a time: they mostly wait.
const atOnce = "6"

// Main runs the tests with a directory of their own for all files, and sees that nothing is left when they are over: no file,
// no process and no goroutine.
func Main(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "live-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL runs as another user
		panic(err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	code = m.Run()
	if err := errors.Join(NothingLeft(dir), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, "after all tests:", err)
		return 1
	}
	return code
}

// NothingLeft says which files there are in a directory, and which processes are left of those that this one has started.
func NothingLeft(dir string) error {
	var errs []error
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		errs = append(errs, err, fmt.Errorf("files are left: %v", left))
	}
	if left := child.Descendants(os.Getpid()); len(left) > 0 {
		errs = append(errs, fmt.Errorf("processes are left: %v", left))
	}
	return errors.Join(errs...)
}

// RequireEnv, set to 1, has tests fail that would skip for want of a server other than redis-server.
const RequireEnv = "REDLOCKSIM_REQUIRE_SERVERS"

// ZooKeeperEnv, set to 1, has the tests on ZooKeeper run, and fail on a machine without it. Its members, each a Java machine,
// take seconds to start, which is too long for what is run before every change.
const ZooKeeperEnv = "REDLOCKSIM_ZOOKEEPER"

// NeedsServer skips the test on a machine without redis-server, or fails it where one is required.
func NeedsServer(t testing.TB) {
	t.Helper()
	redisserver.Program(t)
}

// Needs is the same for another kind of server. Tests on ZooKeeper are skipped unless they are asked for.
func Needs(t testing.TB, kind *server.Kind) {
	t.Helper()
	variable := RequireEnv
	if kind == server.ZooKeeper {
		if variable = ZooKeeperEnv; os.Getenv(variable) != "1" {
			t.Skipf("ZooKeeper takes seconds to start: run with %s=1", variable)
		}
	}
	if _, err := kind.Programs(); err != nil && os.Getenv(variable) == "1" {
		t.Fatalf("%s=1, and %v", variable, err)
	} else if err != nil {
		t.Skip(err)
	}
}
