package faketime

import "math"

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
