//go:build linux

package faketime

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

// What the file holds behind the clocks: a count of successful fsyncs, and for each of so many files its inode and the length
// that was synced.
const (
	wordSyncs   = clockWords
	filesAt     = 8 * (clockWords + 1)
	syncedFiles = 255
	fileSize    = filesAt + 16*syncedFiles
)

// Syncs is how often the process has fsynced a file.
func (c *Clocks) Syncs() int64 { return atomic.LoadInt64(c.word(wordSyncs)) }

// CutToSynced truncates a file to what the process has fsynced of it; to nothing, if it never did.
func (c *Clocks) CutToSynced(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	length := int64(0)
	for i := range syncedFiles {
		if at := filesAt + 16*i; binary.NativeEndian.Uint64(c.memory[at:]) == inode {
			length = int64(binary.NativeEndian.Uint64(c.memory[at+8:]))
		}
	}
	return os.Truncate(path, min(length, info.Size()))
}
