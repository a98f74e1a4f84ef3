// Package input reads files that somebody else wrote, never more of them than is allowed: what is larger is refused before
// it fills the memory, be it a file, a device or a pipe that never ends.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge is what the error for an input above its limit matches.
var ErrTooLarge = errors.New("too large")

// Read reads r up to its end, which must come within limit bytes; name is what it is called in errors.
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

// ReadFile is Read for a file.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, limit)
}
