//go:build unix

package programs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"redlocksim/internal/input"
	"redlocksim/scenarios/programs"
)

// What is no program is refused before it is read to its end, or waited for.
func TestLoadIsBounded(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("large.wasm"), nil, 0o666), os.Truncate(at("large.wasm"), programs.MaxBytes+1),
		syscall.Mkfifo(at("pipe.wasm"), 0o666), os.Symlink("/dev/zero", at("zero.wasm")), os.Mkdir(at("dir.wasm"), 0o777))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := programs.Load(at("large.wasm"), nil, ""); !errors.Is(err, input.ErrTooLarge) || !strings.Contains(err.Error(), at("large.wasm")) {
		t.Errorf("a large file: %v", err)
	}
	for _, name := range []string{"pipe.wasm", "zero.wasm", "dir.wasm"} {
		if _, err := programs.Load(at(name), nil, ""); err == nil || err.Error() != at(name)+": not a regular file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
