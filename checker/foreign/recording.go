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
)

func (f function) String() string { return [...]string{"acquire", "extend", "release"}[f] }

type outcome uint8

const (
	unknown outcome = iota // info, or no return at all
	ok
	failed
)

func (o outcome) String() string { return [...]string{"unknown", "ok", "fail"}[o] }

const noEvent = math.MaxInt32

const noIndex = math.MinInt64

// onLine says where a line stands, with its index if it has one: in a file of one line that alone tells.
func onLine(line int32, index int64) string {
	if index == noIndex {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d (index %d)", line, index)
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
	outcome             outcome
	token               int64
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
	format    Format
	ops       []operation
	times     []int64 // of each event, in nanoseconds; only for leases
	processes names
	locks     names
	lines     int
	nemesis   int
	// leftOut counts the lines that were not to be judged, dropped the operations of which that was clear only at their
	// return, moved the lines that stood after a later one.
	leftOut, dropped, moved int
}
