// Package faketime gives another process clocks that this one changes while it runs, even while it is stopped. The clocks
// are in a file that both processes map.
//
// [New] makes the file. A Go program opens it with [Open] and reads its clocks from it. A program that is not ours, such as
// redis-server, is started with [Clocks.Preload] in its environment: a small C library, which [Build] compiles, then answers
// clock_gettime, gettimeofday and time in place of the C library. Only its wall clock changes: its timers, and the kernel's,
// go by the machine's monotonic clock. The program must be linked dynamically and read its clock through the C library.
//
// The preloaded library also notes how much of each file the process has fsynced, in the same file; [Clocks.CutToSynced]
// then does to a file what a power loss does.
//
// The clocks need Linux.
package faketime

import (
	"errors"
	"math"
)

// ErrNoCompiler is what errors.Is finds in the error of [Build] on a machine without a C compiler.
var ErrNoCompiler = errors.New("needs a C compiler (cc), for a library that is loaded into redis-server")

// Skew is how a clock differs from CLOCK_MONOTONIC, all in nanoseconds. The zero Skew is CLOCK_MONOTONIC itself.
type Skew struct {
	Since int64 // the reading of CLOCK_MONOTONIC at which the clock got this rate
	Ahead int64 // how far ahead the clock was then
	Rate  int64 // how fast it has been since, in parts per billion
}

const (
	// Billion is the Rate of a clock that runs twice as fast, and the nanoseconds of a second.
	Billion = 1_000_000_000
	// Standing is the Rate of a clock that stands still.
	Standing = -Billion
	// Never is a reading of CLOCK_MONOTONIC that does not come.
	Never = math.MaxInt64
)

// Read is what the clock reads when CLOCK_MONOTONIC reads now.
func (s Skew) Read(now int64) int64 { return now + s.Ahead + parts(now-s.Since, s.Rate) }

// parts is rate parts per billion of n. It does not overflow for the years that a run does not last.
func parts(n, rate int64) int64 { return n/Billion*rate + n%Billion*rate/Billion }

// When is the first reading of CLOCK_MONOTONIC, from Since on, at which the clock reads r or more.
func (s Skew) When(r int64) int64 {
	missing := r - s.Read(s.Since)
	switch speed := s.Rate + Billion; {
	case missing <= 0:
		return s.Since
	case speed == 0:
		return Never
	default:
		whole := missing / speed
		rest := (missing%speed*Billion + speed - 1) / speed
		if whole > (Never-s.Since-rest)/Billion {
			return Never
		}
		return s.Since + whole*Billion + rest
	}
}

// WithRate is the same clock with another rate from now on.
func (s Skew) WithRate(now, rate int64) Skew { return Skew{now, s.Read(now) - now, rate} }
