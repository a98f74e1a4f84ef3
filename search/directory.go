package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"redlocksim/internal/outfile"
)

// ErrDir is what errors about the directory of a search match: it holds another search, none, or one already.
var ErrDir = errors.New("search: the directory cannot be used")

// The files in the directory of a search, beside those of its findings.
const (
	// lockFile is held by the search under way. The operating system lets go of it when the process ends, in whatever way; the
	// file stays.
	lockFile = ".lock"
	// CheckpointFile is where a search that can be resumed keeps what it needs for that.
	CheckpointFile = "search.json"
	// RawPattern is what the files of violations that are not shrunk yet are called.
	RawPattern = "raw-*.yaml"
	// failedPattern is what the files of runs are called that ended with an error.
	failedPattern = "failed-*.yaml"
)

// MaxCheckpoint bounds a CheckpointFile that is read, in bytes. It holds what guides a search and a line for each finding, some
// megabytes.
const MaxCheckpoint = 64 << 20

// RawFile is the file of the violation of a run that is not shrunk yet.
func RawFile(run int) string { return strings.Replace(RawPattern, "*", fmt.Sprint(run), 1) }

// failedFile is the file of a run that failed, the number-th of its search.
func failedFile(number int) string { return strings.Replace(failedPattern, "*", fmt.Sprint(number), 1) }

// Writes says whether a name is one that a search may give to a file in its directory, or to a page beside it.
func Writes(name string) bool {
	isOne := func(pattern string) bool { return matches(pattern, name) }
	return slices.ContainsFunc([]string{CheckpointFile, failedPattern, RawPattern, "[1-9]*-*.yaml", "[1-9]*-*.html"}, isOne)
}

// matches says whether a name is as a pattern of this package, which is a right one.
func matches(pattern, name string) bool {
	ok, _ := filepath.Match(pattern, name)
	return ok
}

// OpenDir makes a directory, if it is not there, and keeps other searches out of it until unlock is called. The error matches
// ErrDir if there is another one; it is one of package outfile if the files of a search cannot or may not be written there.
func OpenDir(dir string, rules outfile.Rules) (unlock func(), err error) {
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
		return nil, fmt.Errorf("%w: another search is under way in %s; choose another directory, or wait", ErrDir, dir)
	}
	return func() { _ = lock.Close() }, nil // the process would let go of it anyway
}

// CleanDir removes the files of a directory that match any of the patterns, which are right ones.
func CleanDir(dir string, patterns ...string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		is := func(pattern string) bool { return matches(pattern, e.Name()) }
		if slices.ContainsFunc(patterns, is) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return &outfile.WriteError{Err: err}
	}
	return nil
}
