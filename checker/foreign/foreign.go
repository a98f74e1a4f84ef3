// Package foreign judges histories of locks that somebody else recorded: those of Jepsen, as EDN or JSON, and the
// project's own.
//
// Start at [Check]. [Model] says what kinds of lock there are, [Options] what the checker has to be told.
package foreign

import (
	"io"
)

// Check reads a history from in and judges it, in O(n log n). Of a history with a million operations it keeps some 100 MB,
// whatever else stands in its lines, and porcupine needs as much again within its bounds. A Native history takes two or
// three times as much, depending on how many of its operations read and write, and is read to its end before it is judged.
//
// What cannot be judged gives an [*InputError], or an error that matches [ErrOptions]; an error of in itself is returned
// as it is. A [*checker.DisagreeError] is a defect of this package: the two checks differ.
func Check(in io.Reader, o Options) (*Report, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := newScanner(in)
	format := o.Format
	if format == "" {
		var err error
		if format, err = s.detect(); err != nil {
			return nil, err
		}
	}
	if err := o.fits(format); err != nil {
		return nil, err
	}
	if format == Native {
		return checkNative(s.rest(), o)
	}
	h, err := read(s, format, o)
	if err != nil {
		return nil, err
	}
	return h.judge(o, bothOpinions)
}
