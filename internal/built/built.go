// Package built builds programs for tests, each once for all packages: go build leaves a file alone that is up to date.
package built

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// Program compiles the Go program in a directory for this machine, as users do, and gives the file.
func Program(t testing.TB, dir string) string {
	t.Helper()
	return program(t, dir, "")
}

// Wasm compiles it to WebAssembly.
func Wasm(t testing.TB, dir string) string {
	t.Helper()
	return program(t, dir, ".wasm", "GOOS=wasip1", "GOARCH=wasm")
}

// Cache is a directory where the tests of a machine keep what they compile.
func Cache(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "redlocksim", "programs")
}

// builds are those of this process, by the file: functions that build it once.
var builds sync.Map

// program gives a file that stays. One process at a time builds it, and what has begun to run it goes on with the old one.
func program(t testing.TB, dir, ending string, env ...string) string {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(Cache(t), "built", fmt.Sprintf("%.8x", sha256.Sum256([]byte(dir))))
	file := filepath.Join(beside, filepath.Base(dir)+ending)
	build, _ := builds.LoadOrStore(file, sync.OnceValue(func() error {
		if err := os.MkdirAll(beside, 0o777); err != nil {
			return err
		}
		lock := flock.New(file + ".lock")
		if err := lock.Lock(); err != nil {
			return err
		}
		defer lock.Close()
		cmd := exec.Command("go", "build", "-o", file, ".")
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOTMPDIR="+beside), env...) // from where it is renamed, not copied
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", dir, err, said)
		}
		return nil
	}))
	if err := build.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return file
}
