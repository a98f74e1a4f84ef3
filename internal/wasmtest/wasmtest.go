// Package wasmtest builds programs for tests of what runs WebAssembly.
package wasmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build compiles the Go program in a directory to WebAssembly, as users do, and gives the file.
func Build(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.Base(dir)+".wasm")
	cmd := exec.Command("go", "build", "-o", file, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", dir, err, out)
	}
	return file
}

// Cache is a directory where the tests of a machine keep what they compile from WebAssembly.
func Cache(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "redlocksim", "programs")
}
