// Package longest keeps the tests that take longest out of go test ./..., which is to take minutes: they are run by hand, with
// [Env] set to all.
package longest

import (
	"os"
	"testing"
)

// Env is the environment variable that, set to all, has every test do all of its work.
const Env = "REDLOCKSIM_CASES"

// All reports whether a test is to try every case, and not a sample.
func All() bool {
	return os.Getenv(Env) == "all"
}

// Only skips a test that takes long, for the reason given, unless all is to be done.
func Only(tb testing.TB, why string) {
	tb.Helper()
	if !All() {
		tb.Skipf("%s; %s=all runs it", why, Env)
	}
}
