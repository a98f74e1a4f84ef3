// Package foreign judges histories of locks that somebody else recorded, as EDN or JSON in the words of Jepsen.
//
// Start at [Check]. [Model] says what kinds of lock there are, [Options] what the checker has to be told.
//
// The lines of a history are read, the calls among them are paired with their returns, and what a process did shows from when
// to when it certainly held the lock. Where more hold it than can, it is bad.
package foreign

import (
	"fmt"
	"io"
	"math"
)

// Source is a file with a history, or with a part of one, say the log of one process.
type Source struct {
	Name string
	In   io.Reader
}

// Check judges files as one history, in O(n log n). Of a history with a million operations it keeps some 200 MB, whatever else
// stands in its lines.
//
// Of several files every line needs a time, and lines are put in the order of their times. With the models Mutex, Owner and
// Lease two lines of the same time may have happened in either order; with the others the files' order decides. A process must
// be in one file only.
//
// What cannot be judged gives an [*InputError], or an error that matches [ErrOptions]; an error of a file itself is returned
// as it is.
func Check(o Options, files ...Source) (*Report, error) {
	if o.Group == "" {
		o.Group = ByNameIfAny
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	r := &reader{recording: &recording{o: o, files: files, isBlurred: o.blurs(len(files) > 1)}}
	for i := range files {
		r.at = int32(i)
		s, err := scan(files[i].In)
		if err != nil {
			return nil, r.in(err)
		}
		r.scanner = s
		if err := r.file(); err != nil {
			return nil, r.in(err)
		}
	}
	if err := r.pair(); err != nil {
		return nil, err
	}
	if r.isBlurred {
		r.blur()
	}
	return r.judge()
}

// file reads a file.
func (r *reader) file() error {
	begun := len(r.lines)
	for {
		d, at, err := r.scanner.next()
		if err != nil {
			return err
		}
		if d == nil {
			break
		}
		l := line{position: position{r.at, int32(at)}, index: noIndex, lock: unnamed}
		isNemesis, err := r.interpret(&l, d)
		if err != nil {
			return r.located(&l, err)
		}
		if isNemesis {
			r.nemesis++
			continue
		}
		if why := r.needsTime(); why != "" && !l.timed && !l.leftOut {
			return r.located(&l, notOperation("there is no time%s", why))
		}
		if len(r.lines) == 2*maxOperations {
			return r.located(&l, fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations))
		}
		r.lines = append(r.lines, l)
	}
	format := r.scanner.format
	if r.format != "" && r.format != format {
		return fmt.Errorf("%w: %s is in %s, and %s in %s", ErrOptions, r.files[0].Name, r.format, r.files[r.at].Name, format)
	}
	r.format = format
	r.read += r.scanner.lines()
	lines := r.lines[begun:]
	if err := r.closeClock(lines); err != nil {
		return err
	}
	if !r.o.Sort {
		if err := r.inOrder(lines); err != nil {
			return err
		}
	}
	if r.o.Sort || r.several() {
		r.moved += sortByTime(lines)
	}
	return nil
}

// inOrder is the error of lines of a file whose times step back, or whose indexes do not rise.
func (r *reader) inOrder(lines []line) error {
	index, last := int64(noIndex), int64(math.MinInt64)
	for i := range lines {
		l := &lines[i]
		switch {
		case l.leftOut:
			continue
		case l.timed && l.time < last:
			return r.located(l, mixedUp("time %s after %s; sort by time (--sort) to have such lines put in their place",
				r.written(l.time), r.written(last)))
		case l.index != noIndex && l.index <= index && !r.several():
			return r.located(l, mixedUp("index %d after %d", l.index, index))
		}
		last, index = l.time, max(index, l.index)
	}
	return nil
}
