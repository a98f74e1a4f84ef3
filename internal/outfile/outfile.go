// Package outfile writes the files of a command, each of them whole or not at all. It never replaces what the command reads,
// and what somebody else wrote only where that is asked for.
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
	// Inputs are the files that the command reads, and directories whose files it reads. They are never replaced, by whatever
	// name. What is not there is passed over.
	Inputs []string
	// Force also replaces files that somebody else wrote.
	Force bool
}

// Refusal is the error for a file that may not be written, though it could be.
type Refusal struct{ Path, Why string }

func (r *Refusal) Error() string { return r.Path + " " + r.Why }

// WriteError is the error for an output that cannot be written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// failed makes an error of the file system a WriteError that names the output, which is what the user knows, and not the file
// that was to take its place. A Refusal it leaves as it is.
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

// Check looks whether Write would write a file, and leaves nothing behind. The error is a [*Refusal] or a [*WriteError].
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

// tryIn looks whether a directory takes new files.
func tryIn(dir string) error {
	defer holdInterrupts()()
	f, err := create(dir, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// CheckDir looks whether Write would write files of some names to a directory, which may not be there yet, nor those above it.
// It makes none. What else the directory holds does not matter.
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

// Write writes a file, all of it or nothing: whenever the process or the machine stops, there is what was there before or all
// of data. A file that is there keeps its permissions. What is no regular file, such as a pipe, is written to as it is. The
// error is a [*Refusal] or a [*WriteError].
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

// place is the file that a path leads to, if it may be written, and the mode that it has or is to get.
func (r Rules) place(path string) (place string, mode os.FileMode, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return path, 0o666, nil
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
	// Who may not write to a file may be allowed to replace it, and does not expect to.
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
		info, err := os.Stat(in)
		if err != nil {
			continue
		}
		if os.SameFile(info, file) {
			return in
		}
		if !info.IsDir() {
			continue
		}
		entries, _ := os.ReadDir(in) // what cannot be read is no input
		for _, e := range entries {
			name := filepath.Join(in, e.Name())
			if info, err := os.Stat(name); err == nil && os.SameFile(info, file) {
				return name
			}
		}
	}
	return ""
}

// TempPattern is what files are called, in the directory that they are for, until they are whole.
const TempPattern = ".tmp-redlocksim-*"

// create makes a new file in a directory, with the permissions that any other file there would get.
func create(dir string, mode os.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".tmp-redlocksim-%d-%d", os.Getpid(), n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return f, err
		}
	}
}
