//go:build linux

package testbed

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// workDir is a directory for the files of a run. If the process is killed and cannot remove it, the next run does.
type workDir struct {
	path string
	lock *flock.Flock // held as long as the run's process lives
}

const (
	workDirs = "redlocksim-live-*"
	inUse    = "in-use" // the locked file in it
)

// newWorkDir makes an empty one in parent, and removes those of runs that were killed.
func newWorkDir(parent string) (*workDir, error) {
	if err := removeAbandoned(parent); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, workDirs)
	if err == nil {
		err = os.Chmod(path, 0o711) // servers may run as another user, who has to get to their directories
	}
	if err != nil {
		return nil, err
	}
	// The file gets its name when it is locked, so that nobody finds it unlocked.
	lock := flock.New(filepath.Join(path, inUse+".new"))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = errors.New("live: a new file is locked")
	}
	if err == nil {
		err = os.Rename(lock.Path(), filepath.Join(path, inUse))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close(), os.RemoveAll(path))
	}
	return &workDir{path, lock}, nil
}

// remove removes the directory with all that is in it.
func (w *workDir) remove() error { return errors.Join(os.RemoveAll(w.path), w.lock.Close()) }

// removeAbandoned removes the directories in parent that no process uses any more. Those of other users stay.
func removeAbandoned(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if is, _ := filepath.Match(workDirs, e.Name()); !is || !e.IsDir() {
			continue
		}
		file := filepath.Join(parent, e.Name(), inUse)
		lock := flock.New(file, flock.SetFlag(os.O_RDWR)) // os.O_CREATE would recreate the file
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(file)) // one that cannot be removed does no harm
		_ = lock.Close()
	}
	return nil
}
