package search

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"redlocksim/internal/outfile"
)

// lockFile is what a search that is under way holds in its directory. The operating system lets go of it when the process
// ends, in whatever way; the file stays.
const lockFile = ".lock"

// lockDir makes a directory, if it is not there, and keeps other searches out of it until unlock is called. The error matches
// ErrState if there is another one; it is one of package outfile if the files of a search cannot or may not be written there.
func lockDir(dir string, rules outfile.Rules) (unlock func(), err error) {
	if err := rules.CheckDir(dir, Writes); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, &outfile.WriteError{Err: err}
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, &outfile.WriteError{Err: err}
	case !locked:
		return nil, fmt.Errorf("%w: another search is under way in %s; choose another directory, or wait", ErrState, dir)
	}
	return func() { _ = lock.Close() }, nil // the process would let go of it anyway
}
