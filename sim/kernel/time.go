package kernel

import "time"

// True is an instant of true time: nanoseconds since the start of the run. No process can read it.
type True int64

// Mono is a reading of a process's monotonic clock, in nanoseconds since the start of the run.
type Mono int64

// Wall is a reading of a process's wall clock, in nanoseconds since the Unix epoch.
type Wall int64

// Epoch is what a wall clock that is right reads at the start of a run.
const Epoch Wall = 1_700_000_000 * 1e9

// Forever is later than every instant of a run.
const Forever True = 1<<63 - 1

// Add is the instant d later, at most Forever.
func (t True) Add(d time.Duration) True {
	if d > 0 && t > Forever-True(d) {
		return Forever
	}
	return t + True(d)
}

// Sub is the time from u to t.
func (t True) Sub(u True) time.Duration { return time.Duration(t - u) }

// Milliseconds is the reading in whole milliseconds, rounded down.
func (w Wall) Milliseconds() int64 {
	if w < 0 {
		return -int64((-w + 1e6 - 1) / 1e6)
	}
	return int64(w) / 1e6
}
