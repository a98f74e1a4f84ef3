package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

func newReader(o Options, several bool) *reader {
	if o.Group == "" {
		o.Group = ByNameIfAny
	}
	return &reader{o: o, several: several, r: &recording{blurred: o.blurs(several)}, unused: notices{of: map[string][]notice{}}}
}

// begin turns to a file, and says in what format it is.
func (r *reader) begin(name string, s *scanner) (Format, error) {
	r.s, r.index, r.lastInFile = s, noIndex, math.MinInt64
	if r.several {
		r.r.files = append(r.r.files, name)
	}
	format, err := s.begin()
	if err != nil {
		return "", r.in(err)
	}
	if err := r.o.fits(format); err != nil {
		return "", err
	}
	switch {
	case !r.several:
	case format == Native:
		return "", r.in(&InputError{Line: 1, Err: fmt.Errorf("%w: a history of redlocksim cannot be merged with others", ErrOptions)})
	case r.r.format != "" && r.r.format != format:
		return "", fmt.Errorf("%w: %s is in %s, and %s in %s", ErrOptions, r.r.files[0], r.r.format, name, format)
	}
	r.r.format = format
	return format, nil
}

// in adds the file that is being read to an error.
func (r *reader) in(err error) error {
	if at := (*InputError)(nil); r.several && errors.As(err, &at) && at.File == "" {
		at.File = r.r.files[len(r.r.files)-1]
	}
	return err
}

// file reads the file that was begun.
func (r *reader) file() error {
	r.begun = len(r.entries)
	for {
		line, more, err := r.s.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		e, err := r.interpret(line)
		if err == nil {
			err = r.enter(&e)
		}
		if err != nil {
			return e.located(err)
		}
	}
	if err := r.closeClock(); err != nil {
		return err
	}
	r.r.moved += sortByTime(r.entries[r.begun:])
	r.r.lines += r.s.lines()
	return nil
}

// enter takes an entry, or puts it off until all are there, if they are to be put in order.
func (r *reader) enter(e *entry) error {
	switch {
	case !r.o.Sort && !r.several:
		return r.take(e)
	case e.kind == ofClient && !e.timed && r.o.Sort:
		return notOperation("there is no time to sort by")
	case e.kind == ofClient && !e.timed:
		return notOperation("there is no time, which is needed to merge files")
	case len(r.entries) > 2*maxOperations:
		return fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
	case e.kind == ofClient && !r.o.Sort && e.time < r.lastInFile:
		return r.backwards(e.time, r.lastInFile)
	case e.kind == ofClient:
		r.lastInFile = e.time
	}
	r.entries = append(r.entries, *e)
	return nil
}

// recording is everything that was read.
func (r *reader) recording() (*recording, error) {
	if r.several {
		slices.SortStableFunc(r.entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	}
	for i := range r.entries {
		e := &r.entries[i]
		if err := r.take(e); err != nil {
			err := e.located(err)
			err.File = r.r.fileOf(e.process)
			return nil, err
		}
	}
	if err := r.finish(); err != nil {
		return nil, r.in(err)
	}
	if err := r.plausible(); err != nil {
		return nil, err
	}
	if r.r.blurred {
		r.r.blur(r.o.ClockError)
	}
	r.r.notes = append(r.r.notes, r.notes()...)
	return r.r, nil
}

// sortByTime puts the entries that have a time in the order of their times, those of one time in the order in which they are,
// and returns how many of those to be judged stood after a later one.
func sortByTime(entries []entry) int {
	moved, latest := 0, int64(math.MinInt64)
	for i := range entries {
		switch e := &entries[i]; {
		case !e.timed: // it has no part in the order
			e.time = latest
		case e.time < latest && e.kind == ofClient:
			moved++
		}
		latest = max(latest, entries[i].time)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	return moved
}
