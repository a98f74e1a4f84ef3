// Package outfile writes the files of a command, each completely or not at all. It never replaces what the command reads, and
// it replaces what somebody else wrote only if asked to.
//
// A file is written beside the old one, synced and renamed. That is our own, in the twenty lines of write and create, because a
// file that a killed process left behind must be recognized by its name, which the libraries that do this choose themselves.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"redlocksim/internal/mark"
)

// Rules say what may be replaced. The zero value has no inputs, and replaces files that are empty or have redlocksim's mark.
type Rules struct {
	// Inputs are the files that the command reads. They are never replaced, under any name. Those that do not exist are
	// ignored.
	Inputs []string
	// Force allows to replace files that somebody else wrote.
	Force bool
}

// Refusal is the error for a file that may not be written, though it could be.
type Refusal struct{ Path, Why string }

func (r *Refusal) Error() string { return r.Path + " " + r.Why }

// WriteError is the error for an output that cannot be written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// failed turns an error of the file system into a WriteError. It names the output, which the user knows, instead of the
// temporary file. A Refusal stays as it is.
func failed(path string, err error) error {
	if err == nil || errors.As(err, new(*Refusal)) {
		return err
	}
	if at := (*os.PathError)(nil); errors.As(err, &at) {
		err = &os.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	if at := (*os.LinkError)(nil); errors.As(err, &at) {
		err = &os.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return &WriteError{err}
}

// Check checks that Write would write a file, and leaves nothing behind. The error is a [*Refusal] or a [*WriteError].
func (r Rules) Check(path string) error {
	return failed(path, r.check(path))
}

func (r Rules) check(path string) error {
	place, mode, err := r.place(path)
	if err != nil || !mode.IsRegular() {
		return err
	}
	return tryIn(filepath.Dir(place))
}

// tryIn checks that files can be created in a directory.
func tryIn(dir string) error {
	defer holdInterrupts()()
	f, err := create(dir, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// CheckDir checks that Write would write files of some names to a directory, which need not exist yet, nor those above it. It
// creates nothing. Other files in the directory do not matter.
func (r Rules) CheckDir(dir string, writes func(name string) bool) error {
	return failed(dir, r.checkDir(dir, writes))
}

func (r Rules) checkDir(dir string, writes func(name string) bool) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) && filepath.Dir(dir) != dir:
		return r.checkDir(filepath.Dir(dir), func(string) bool { return false })
	case err != nil:
		return err
	case !info.IsDir():
		return &Refusal{dir, "is a file; name a directory"}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !writes(e.Name()) {
			continue
		}
		if _, _, err := r.place(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return tryIn(dir)
}

// Write writes a file, completely or not at all: whenever the process or the machine stops, the file has its old content or all
// of data. An existing file keeps its permissions. Something that is not a regular file, such as a pipe, is written to
// directly. The error is a [*Refusal] or a [*WriteError].
func (r Rules) Write(path string, data []byte) error {
	return failed(path, r.write(path, data))
}

func (r Rules) write(path string, data []byte) (err error) {
	place, mode, err := r.place(path)
	switch {
	case err != nil:
		return err
	case !mode.IsRegular():
		return os.WriteFile(place, data, 0o666)
	}
	defer holdInterrupts()()
	f, err := create(filepath.Dir(place), mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), place)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}

// place is the file that a path leads to, if it may be written, and the mode that it has or will get.
func (r Rules) place(path string) (place string, mode os.FileMode, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		place, err = leadsTo(path)
		return place, 0o666, err
	case err != nil:
		return "", 0, err
	case info.IsDir():
		return "", 0, &Refusal{path, "is a directory; name a file"}
	case !info.Mode().IsRegular():
		return path, info.Mode(), nil
	}
	if err := r.mayReplace(path, info); err != nil {
		return "", 0, err
	}
	// Without permission to write to a file one may still be able to replace it, but does not expect to.
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return "", 0, err
	}
	if err := f.Close(); err != nil {
		return "", 0, err
	}
	place, err = filepath.EvalSymlinks(path)
	return place, info.Mode().Perm(), err
}

// leadsTo is the file that a path names which does not exist: the path, or where a link there leads to, which stays.
func leadsTo(path string) (string, error) {
	for {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
}

// mayReplace is the error for a file that is an input, or somebody else's.
func (r Rules) mayReplace(path string, info os.FileInfo) error {
	if input := r.inputAt(info); input != "" {
		return &Refusal{path, fmt.Sprintf("is the input %s, which is not replaced", input)}
	}
	if r.Force || info.Size() == 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, mark.Head))
	if err != nil {
		return err
	}
	if !mark.Is(head) {
		return &Refusal{path, "already exists and may be yours; --force replaces it"}
	}
	return nil
}

// inputAt is the input that is the same file, by whatever name; empty if none is.
func (r Rules) inputAt(file os.FileInfo) string {
	for _, in := range r.Inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, file) {
			return in
		}
	}
	return ""
}

// TempPattern matches the names that files have, in their directory, until they are complete.
const TempPattern = ".tmp-redlocksim-*"

// create creates a temporary file in a directory, with the permissions that any other new file would get.
func create(dir string, mode os.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".tmp-redlocksim-%d-%d",
			os.Getpid(), n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return f, err
		}
	}
}
