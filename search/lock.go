package search

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockFile is what a search that is under way holds in its directory. The operating system lets go of it when the process
// ends, in whatever way; the file stays.
const lockFile = ".lock"

// lockDir makes a directory, if it is not there, and keeps other searches out of it until unlock is called. The error matches
// ErrState.
func lockDir(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	case !locked:
		return nil, fmt.Errorf("%w: another search is under way in %s; choose another directory, or wait", ErrState, dir)
	}
	return func() { _ = lock.Close() }, nil // the process would let go of it anyway
}
