//go:build linux

package faketime

import (
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed preload/preload.c
var source string

// Build compiles the library to preload into a directory and returns its path. One library serves any number of processes.
func Build(dir string) (library string, err error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", ErrNoCompiler
	}
	library = filepath.Join(dir, "faketime.so")
	build := exec.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, "-x", "c", "-")
	build.Stdin = strings.NewReader(source)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("faketime: %v: %w\n%s", build, err, output)
	}
	return library, nil
}
