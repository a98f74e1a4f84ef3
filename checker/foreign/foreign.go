// Package foreign judges histories of locks that somebody else recorded: those of Jepsen, as EDN or JSON, and the
// project's own.
//
// Start at [Check]. [Model] says what kinds of lock there are, [Options] what the checker has to be told.
//
// A history is read, its calls are paired with their returns, and what a process did shows from when to when it certainly held
// the lock. Where more hold it than can, it is bad.
package foreign

import "io"

// Check reads a history from in and judges it, in O(n log n). Of a history with a million operations it keeps some 100 MB,
// whatever else stands in its lines. A Native history takes some ten times as much, is read to its end before it is judged, and
// has four million events at most, steps and faults not counted.
//
// What cannot be judged gives an [*InputError], or an error that matches [ErrOptions]; an error of in itself is returned
// as it is. Of a Native history a [*checker.DisagreeError] is a defect of package checker.
func Check(in io.Reader, o Options) (*Report, error) {
	return CheckMerged([]Source{{In: in}}, o)
}

// Source is one of several files that make up a history, say the log of one process.
type Source struct {
	Name string
	In   io.Reader
}

// CheckMerged judges several files as one history, as Check does. Every line needs a time, and lines are put in the order of
// their times. With the models Mutex, Owner and Lease two lines of the same time may have happened in either order; with the
// others the files' order decides. A process must be in one file only. A Native history cannot be merged.
func CheckMerged(files []Source, o Options) (*Report, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	r := newReader(o, len(files) > 1)
	for _, f := range files {
		s := newScanner(f.In)
		format, err := r.begin(f.Name, s)
		if err != nil {
			return nil, err
		}
		if format == Native {
			return checkNative(s.in, o)
		}
		if err := r.file(); err != nil {
			return nil, r.in(err)
		}
	}
	h, err := r.recording()
	if err != nil {
		return nil, err
	}
	return h.judge(o)
}
