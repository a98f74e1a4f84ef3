package foreign

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"redlocksim/internal/plural"
)

// maxOperations bounds a history. So many take some 2 GB.
const maxOperations = 10_000_000

const noEvent = math.MaxInt32

// operation is a call with what became of it. call and ret are its lines, by their places. ret is noEvent unless it is known
// that the operation succeeded or failed.
type operation struct {
	process, lock int32
	call, ret     int32
	returned      position // where its outcome stands, also an unknown one
	retIndex      int64
	fn            function
	mode          mode
	outcome       outcome
	fenced        bool // the call of a write has the token
	token         int64
	lease         int64 // how long the lease lasts that counts from the call; 0 if the lock has none
}

// hasToken reports whether the operation is a grant whose token is known.
func (o *operation) hasToken() bool {
	return o.fn == acquire && o.outcome == ok && o.token != unknownToken
}

// names numbers texts.
type names struct {
	of map[string]int32
	in []string
}

func (n *names) number(name string) int32 {
	if i, ok := n.of[name]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i := int32(len(n.in))
	n.of[name] = i
	n.in = append(n.in, name)
	return i
}

// recording is what was read of the files.
type recording struct {
	o         Options
	files     []Source
	format    Format
	lines     []line // of clients, that are to be judged, in their order
	ops       []operation
	processes names
	home      []int32 // by process, the file that it is in
	locks     names
	sharing   []sharing // by lock
	// isBlurred says that lines of close times may have happened in either order. Calls are earlier by the allowance then, and
	// returns later.
	isBlurred   bool
	allowance   int64
	isSince1970 bool // what times count from
	// namesDiffer says that the acquires name no lock, but have values that may be names of several.
	namesDiffer bool
	// suspected says that a note asked whether a lock is a semaphore.
	suspected bool
	// notes are what a reader of the verdict should know of how the history was read.
	notes   []string
	read    int // lines
	nemesis int
	// leftOut counts the lines that were not to be judged, dropped the operations of which that was clear only at their
	// return, moved the lines that stood after a later one.
	leftOut, dropped, moved int
}

func (h *recording) several() bool { return len(h.files) > 1 }

// where says where a line stands, with its index if it has one: in a file of one line that alone tells.
func (h *recording) where(at position, index int64) string {
	where := fmt.Sprintf("line %d", at.line)
	if index != noIndex {
		where = fmt.Sprintf("line %d (index %d)", at.line, index)
	}
	if h.several() {
		where += " of " + h.files[at.file].Name
	}
	return where
}

// called says where an operation was called.
func (h *recording) called(o *operation) string {
	return h.where(h.lines[o.call].position, h.lines[o.call].index)
}

// located is an error of a line.
func (h *recording) located(l *line, err error) error {
	return &InputError{File: h.files[l.file].Name, Line: int(l.line), Index: indexOf(l.index), Err: err}
}

// reader makes a recording of files.
type reader struct {
	*recording
	scanner *scanner
	at      int32 // the file that is being read
	clock   clock // how it counts time
	// firstTime is the line with the first time of all, and dated says that times are dates. assumed says that those of some
	// file are taken for nanoseconds.
	firstTime      position
	dated, assumed bool
	firstName      string // the first value of an acquire that may be the name of a lock
	unused         notices
	pairs          pairs
}

// in adds the file that is being read to an error.
func (r *reader) in(err error) error {
	if at := (*InputError)(nil); errors.As(err, &at) && at.File == "" {
		at.File = r.files[r.at].Name
	}
	return err
}

// needsTime is what the lines need times for; empty if nothing does.
func (r *reader) needsTime() string {
	switch {
	case r.o.Sort:
		return " to sort by"
	case r.several():
		return ", which is needed to merge files"
	case r.o.leased():
		return ", which leases need"
	case r.isBlurred:
		return ", which an error of clocks needs"
	}
	return ""
}

// indexOf is an index that a line has; nil if it has none.
func indexOf(index int64) *int64 {
	if index == noIndex {
		return nil
	}
	return &index
}

// notUnderstood is what a note calls fields that mean nothing here.
const notUnderstood = "fields that are not understood, and not used"

// maxNoticed bounds the names in a note.
const maxNoticed = 10

// notice is something that was read and not used, with the line where it stands first.
type notice struct {
	name  string
	first position
	lines int
}

// notices are grouped by what is said of them, in the order in which they were found.
type notices struct {
	what []string
	of   map[string][]notice
}

// notice remembers that a field or word was not used.
func (r *reader) notice(what, name string, at position) {
	all, known := r.unused.of[what]
	if !known {
		if r.unused.of == nil {
			r.unused.of = map[string][]notice{}
		}
		r.unused.what = append(r.unused.what, what)
	}
	for i := range all {
		if all[i].name == name {
			all[i].lines++
			return
		}
	}
	if len(all) <= maxNoticed && len(name) <= maxName {
		r.unused.of[what] = append(all, notice{name, at, 1})
	}
}

// tellUnused adds notes of what was not used.
func (r *reader) tellUnused() {
	for _, what := range r.unused.what {
		var names []string
		for i, n := range r.unused.of[what] {
			if i == maxNoticed {
				names = append(names, "…")
				break
			}
			names = append(names, fmt.Sprintf("%.40q (%s, first on %s)", n.name, plural.Count(n.lines, "line"), r.where(n.first, noIndex)))
		}
		r.notes = append(r.notes, what+": "+strings.Join(names, ", "))
	}
}
