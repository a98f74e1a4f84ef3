package foreign

import (
	"fmt"
	"math"
)

// maxOperations bounds a history. So many take some 800 MB.
const maxOperations = 10_000_000

// maxName bounds the name of a process or lock, in bytes.
const maxName = 1000

type function uint8

const (
	acquire function = iota
	extend
	release
	// write is one to what the lock protects, with a token.
	write
)

func (f function) String() string { return [...]string{"acquire", "extend", "release", "write"}[f] }

type outcome uint8

const (
	unknown outcome = iota // info, or no return at all
	ok
	failed
)

func (o outcome) String() string { return [...]string{"unknown", "ok", "fail"}[o] }

const noEvent = math.MaxInt32

const noIndex = math.MinInt64

// onLine says where a line stands, with its index if it has one: in a file of one line that alone tells. file is the number of
// its file, if there are several.
func (h *recording) onLine(file, line int32, index int64) string {
	where := fmt.Sprintf("line %d", line)
	if index != noIndex {
		where = fmt.Sprintf("line %d (index %d)", line, index)
	}
	if name := h.nameOf(file); name != "" {
		where += " of " + name
	}
	return where
}

// called says where an operation was called.
func (h *recording) called(o *operation) string {
	return h.onLine(h.home[o.process], o.callLine, o.callIndex)
}

// fileOf is the name of the file that a process is in; empty if there is only one.
func (h *recording) fileOf(process int32) string { return h.nameOf(h.home[process]) }

// nameOf is the name of a file; empty if there is only one.
func (h *recording) nameOf(file int32) string {
	if len(h.files) == 0 {
		return ""
	}
	return h.files[file]
}

// operation is a call with what became of it. Processes and locks are numbered; call and ret count the events, which
// are the lines of clients, from 0. ret is noEvent unless it is known that the operation succeeded or failed.
type operation struct {
	process, lock     int32
	call, ret         int32
	callLine, retLine int32 // retLine is 0 if there is no return
	// callIndex and retIndex are what the lines themselves say; noIndex if they do not.
	callIndex, retIndex int64
	fn                  function
	mode                mode
	outcome             outcome
	token               int64
	fenced              bool  // the call of a write has the token
	lease               int64 // how long the lease lasts that counts from here; 0 if the lock has none
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

func (n *names) number(name []byte) int32 {
	if i, ok := n.of[string(name)]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i := int32(len(n.in))
	n.of[string(name)] = i
	n.in = append(n.in, string(name))
	return i
}

// record of a whole file.
type recording struct {
	format Format
	ops    []operation
	times  []int64 // of each event, in nanoseconds; only for leases, and if blurred or of several files
	// blurred says that events of close times may have happened in either order; told are then their times as they stand in the
	// file.
	blurred bool
	told    []int64
	dated   bool      // times are since 1970
	sharing []sharing // by lock
	// namesDiffer says that the acquires name no lock, but have values that may be names of several.
	namesDiffer bool
	// suspected says that a note asked whether a lock is a semaphore.
	suspected bool
	// notes are what a reader of the verdict should know of how the history was read.
	notes []string
	// files are the names of several files that make up the history, and home the number of the one that each process is in.
	files     []string
	home      []int32
	processes names
	locks     names
	lines     int
	nemesis   int
	// leftOut counts the lines that were not to be judged, dropped the operations of which that was clear only at their
	// return, moved the lines that stood after a later one.
	leftOut, dropped, moved int
}
