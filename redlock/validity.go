package redlock

import (
	"fmt"
	"math"
	"time"

	"github.com/shopspring/decimal"
)

// Drift is the allowance for clocks that run at different rates: TTL × Factor + Constant is taken off every lease.
//
// It is sufficient when it is at least TTL × (1 − (1−ρc)/(1+ρs)), with clients at most ρc slow and nodes at most ρs
// fast; Constant covers the granularity of Redis' expiry (1 ms). The zero Drift allows for none.
type Drift struct {
	Factor   decimal.Decimal // of the TTL, from 0 to less than 1
	Constant time.Duration   // not negative
}

// DefaultDrift is the allowance of the Redlock reference implementation: 1 % of the TTL and 2 ms.
func DefaultDrift() Drift {
	return Drift{Factor: decimal.New(1, -2), Constant: 2 * time.Millisecond}
}

// For is the allowance for a TTL, computed exactly and rounded up to the next nanosecond: against the caller. One that
// is too large for a Duration is the largest.
func (d Drift) For(ttl time.Duration) time.Duration {
	allowance := decimal.NewFromInt(int64(ttl)).Mul(d.Factor).Ceil().Add(decimal.NewFromInt(int64(d.Constant)))
	if allowance.GreaterThan(decimal.NewFromInt(math.MaxInt64)) {
		return math.MaxInt64
	}
	return time.Duration(allowance.IntPart())
}

func (d Drift) check() error {
	if d.Factor.IsNegative() || d.Factor.GreaterThanOrEqual(decimal.NewFromInt(1)) {
		return fmt.Errorf("%w: drift factor %s is not from 0 to less than 1", ErrInvalid, d.Factor)
	}
	if d.Constant < 0 {
		return fmt.Errorf("%w: drift constant %v is negative", ErrInvalid, d.Constant)
	}
	return nil
}

// Validity is the time for which a grant may be relied on, counted from the second clock reading: the TTL less the time
// elapsed since the first reading and the drift allowance. It is the lower bound MIN_VALIDITY = TTL − (T2−T1) −
// CLOCK_DRIFT of the Redis documentation; not positive means that the grant came too late.
func Validity(ttl, elapsed, drift time.Duration) time.Duration { return ttl - elapsed - drift }

// term is a TTL with its allowance.
type term struct{ ttl, drift time.Duration }

// term checks a TTL. The last one is remembered: programs use few, and decimal arithmetic is slow.
func (c *Client) term(ttl time.Duration) (term, error) {
	if t := c.lastTerm.Load(); t != nil && t.ttl == ttl {
		return *t, nil
	}
	if ttl <= 0 || ttl%time.Millisecond != 0 {
		return term{}, fmt.Errorf("%w: TTL %v is not a positive whole number of milliseconds, as Redis keeps it", ErrInvalid, ttl)
	}
	t := term{ttl: ttl, drift: c.drift.For(ttl)}
	if ttl <= t.drift {
		return term{}, fmt.Errorf("%w: TTL %v is not larger than its drift allowance %v, no grant could be valid", ErrInvalid, ttl, t.drift)
	}
	if c.guard.MaxTTL != 0 && ttl > c.guard.MaxTTL {
		return term{}, fmt.Errorf("%w: TTL %v is larger than %v, the largest by the restart guard", ErrInvalid, ttl, c.guard.MaxTTL)
	}
	if c.isFenced() && ttl > c.counterTTL {
		return term{}, fmt.Errorf("%w: TTL %v is larger than %v, for which the fencing counters are kept", ErrInvalid, ttl, c.counterTTL)
	}
	c.lastTerm.Store(&t)
	return t, nil
}
