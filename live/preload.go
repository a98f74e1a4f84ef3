//go:build linux

package live

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

//go:embed preload/preload.c
var preloadSource []byte

// ErrNoCompiler is what errors.Is finds in the error of Run for a scenario that steps a node's clock or takes its power
// on a machine without cc.
var ErrNoCompiler = errors.New("needs a C compiler (cc), for a library that is loaded into redis-server")

const (
	preloadFiles = 255
	preloadSize  = 16 + 16*preloadFiles
)

// hasCompiler says whether there is a C compiler.
func hasCompiler() bool {
	_, err := exec.LookPath("cc")
	return err == nil
}

// compilePreload makes the library in a directory and returns its path.
func compilePreload(dir string) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", ErrNoCompiler
	}
	source, library := filepath.Join(dir, "preload.c"), filepath.Join(dir, "preload.so")
	if err := os.WriteFile(source, preloadSource, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("live: cc: %w\n%s", err, out)
	}
	return library, nil
}

// shared is the memory that the library shares with this process.
type shared struct {
	path   string
	memory []byte
}

func newShared(path string) (*shared, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(preloadSize); err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, preloadSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("live: %s: %w", path, err)
	}
	return &shared{path, memory}, nil
}

func (s *shared) close() error { return unix.Munmap(s.memory) }

func (s *shared) word(i int) *int64 { return (*int64)(unsafe.Pointer(&s.memory[8*i])) }

// step moves the server's wall clock.
func (s *shared) step(by int64) { atomic.AddInt64(s.word(0), by) }

// syncs is how often the server has fsynced a file.
func (s *shared) syncs() int64 { return atomic.LoadInt64(s.word(1)) }

// cut takes from a file what has not been fsynced. A file that never was is left empty.
func (s *shared) cut(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	length := int64(0)
	for i := range preloadFiles {
		if at := 16 + 16*i; binary.NativeEndian.Uint64(s.memory[at:]) == inode {
			length = int64(binary.NativeEndian.Uint64(s.memory[at+8:]))
		}
	}
	return os.Truncate(path, min(length, info.Size()))
}
