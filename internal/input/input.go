// Package input reads files from others, up to a limit. What is larger, such as a device or a pipe that never ends, is refused
// before it fills the memory.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge is what errors.Is finds in the error for an input above the limit.
var ErrTooLarge = errors.New("too large")

// Read reads r to its end, which must come within limit bytes. Errors call it name.
func Read(name string, r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w: more than %d bytes", name, ErrTooLarge, limit)
	}
	return data, nil
}

// ReadRegular is ReadFile for what only a regular file can be. A pipe into which nobody writes would be waited for.
func ReadRegular(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return ReadFile(path, limit)
}

// ReadFile is Read for a file.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, limit)
}
