package network

import (
	"errors"
	"fmt"
	"time"

	"redlocksim/sim/kernel"
)

// Latency is a distribution of message delays, given by points of its quantile function, between which it is linear:
// a part Share/1,000,000 of the messages takes At or less. The zero Latency is none at all. Everything is computed in
// integers, so that all machines draw the same.
type Latency struct {
	Points []Quantile // Share rising from 0 to Million, At not falling
}

// Quantile is one point of a Latency.
type Quantile struct {
	Share int // in millionths
	At    time.Duration
}

// Million is the Share of all messages.
const Million = 1_000_000

// Constant is the latency that is always d.
func Constant(d time.Duration) Latency { return Uniform(d, d) }

// Uniform is the latency that is anything from min to max, evenly.
func Uniform(min, max time.Duration) Latency {
	return Latency{Points: []Quantile{{0, min}, {Million, max}}}
}

// ErrLatency is what Check's errors match.
var ErrLatency = errors.New("not a latency distribution")

// Check says whether the distribution is one.
func (l Latency) Check() error {
	if len(l.Points) == 0 {
		return nil
	}
	if l.Points[0].Share != 0 || l.Points[len(l.Points)-1].Share != Million || l.Points[0].At < 0 {
		return fmt.Errorf("%w: it must go from share 0, not below 0s, to share 1", ErrLatency)
	}
	for i, p := range l.Points[1:] {
		if before := l.Points[i]; p.Share <= before.Share || p.At < before.At {
			return fmt.Errorf("%w: shares must rise and times must not fall", ErrLatency)
		}
	}
	return nil
}

// Min is the smallest delay.
func (l Latency) Min() time.Duration {
	if len(l.Points) == 0 {
		return 0
	}
	return l.Points[0].At
}

// Max is the largest delay.
func (l Latency) Max() time.Duration {
	if len(l.Points) == 0 {
		return 0
	}
	return l.Points[len(l.Points)-1].At
}

// Draw is the delay of one message.
func (l Latency) Draw(key kernel.Key) time.Duration {
	if len(l.Points) == 0 {
		return 0
	}
	lo, hi := l.Points[0], l.Points[len(l.Points)-1]
	if lo.At == hi.At {
		return lo.At
	}
	// In nanoshares, so that long stretches are still drawn to the nanosecond or nearly so.
	const fine = 1_000_000
	u := int64(key.Below(Million * fine))
	for _, p := range l.Points[1:] {
		if hi = p; u < int64(p.Share)*fine {
			break
		}
		lo = p
	}
	part, whole := u-int64(lo.Share)*fine, int64(hi.Share-lo.Share)*fine
	return lo.At + time.Duration(kernel.Scale(int64(hi.At-lo.At), part, whole))
}
