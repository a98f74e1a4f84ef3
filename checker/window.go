package checker

import (
	"math"
	"slices"
	"time"
)

// Instant is a true time, in nanoseconds since the start of the run.
type Instant int64

// Since returns how long after earlier i is.
func (i Instant) Since(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// String gives the time since the start of the run, "1.5s".
func (i Instant) String() string { return time.Duration(i).String() }

// Window is a stretch of true time that belongs to a client.
type Window struct {
	Process string
	Grant   int // the Op of the acquire it rests on
	// FromSeq and ToSeq are the events that begin and end it, at From and To. ToSeq is 0, and To the end of the run, if
	// it never ended.
	FromSeq, ToSeq int
	From, To       Instant
}

// forever is the Seq of what never happens.
const forever = math.MaxInt

// span is a stretch of a history, between two Seqs; to is forever if it never ended.
type span struct{ from, to int }

// ends lists the Seqs at which the spans begin and end, ascending.
func ends(spans ...span) []int {
	var seqs []int
	for _, s := range spans {
		seqs = append(seqs, s.from)
		if s.to != forever {
			seqs = append(seqs, s.to)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}
