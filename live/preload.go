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

	"redlocksim/sim"
)

//go:embed preload/preload.c
var preloadSource []byte

// ErrNoCompiler is what errors.Is finds in the error of Run for a scenario that changes a node's clock or takes its power
// on a machine without cc.
var ErrNoCompiler = errors.New("needs a C compiler (cc), for a library that is loaded into redis-server")

const (
	wordSyncs    = clockWords
	preloadWords = clockWords + 1
	preloadFiles = 255
	preloadSize  = 8*preloadWords + 16*preloadFiles
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

// shared is the memory that the library shares with this process: the clocks of the server, and behind them what it has
// fsynced.
type shared struct{ *clocks }

func newShared(path string) (*shared, error) {
	c, err := newClocks(path, preloadSize)
	if err != nil {
		return nil, err
	}
	return &shared{c}, nil
}

// whenWall is when the server's wall clock reads w, by CLOCK_MONOTONIC, if nothing more is done to it.
func (s *shared) whenWall(w int64) int64 {
	now := trueTime()
	l := s.state().line(sim.WallClock)
	return max(now, l.when(l.read(now)+w-s.wall()))
}

// syncs is how often the server has fsynced a file.
func (s *shared) syncs() int64 { return atomic.LoadInt64(s.word(wordSyncs)) }

// cut takes from a file what has not been fsynced. A file that never was is left empty.
func (s *shared) cut(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	length := int64(0)
	for i := range preloadFiles {
		if at := 8*preloadWords + 16*i; binary.NativeEndian.Uint64(s.memory[at:]) == inode {
			length = int64(binary.NativeEndian.Uint64(s.memory[at+8:]))
		}
	}
	return os.Truncate(path, min(length, info.Size()))
}
