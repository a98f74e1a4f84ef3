package live

import "math"

// line is what a clock reads: CLOCK_MONOTONIC and what it is ahead of it, which grows while it runs fast. The zero line is
// CLOCK_MONOTONIC itself.
type line struct {
	since int64 // the reading of CLOCK_MONOTONIC since which it runs as it does
	ahead int64 // by how many nanoseconds it was ahead then
	rate  int64 // by how many parts per billion it has been fast since
}

const (
	billion = 1_000_000_000
	// standing is the rate of a clock that stands still.
	standing = -billion
	// never is a reading of CLOCK_MONOTONIC that does not come.
	never = math.MaxInt64
)

// read is what the clock reads when CLOCK_MONOTONIC reads now.
func (l line) read(now int64) int64 { return now + l.ahead + parts(now-l.since, l.rate) }

// parts is rate parts per billion of n, without overflow between for the years that a run does not last.
func parts(n, rate int64) int64 { return n/billion*rate + n%billion*rate/billion }

// when is the first reading of CLOCK_MONOTONIC at which the clock reads r or more, since it has run as it does.
func (l line) when(r int64) int64 {
	missing := r - l.read(l.since)
	switch speed := l.rate + billion; {
	case missing <= 0:
		return l.since
	case speed == 0:
		return never
	default:
		whole := missing / speed
		rest := (missing%speed*billion + speed - 1) / speed
		if whole > (never-l.since-rest)/billion {
			return never
		}
		return l.since + whole*billion + rest
	}
}

// plus is the reading d after r; never if that is too late for a number.
func plus(r, d int64) int64 {
	if d > 0 && r > never-d {
		return never
	}
	return r + d
}

// turn is the same clock with another rate from now on.
func (l line) turn(now, rate int64) line { return line{now, l.read(now) - now, rate} }
