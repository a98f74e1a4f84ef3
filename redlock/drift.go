package redlock

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/printable"
)

// Drift is the allowance for clocks that run at different rates: every lease is TTL × Factor + Constant shorter.
//
// It is enough if it is at least TTL × (1 − (1−ρc)/(1+ρs)), with clients at most ρc slow and nodes at most ρs fast. Constant
// covers the granularity of Redis' expiry (1 ms). The zero Drift allows for none.
type Drift struct {
	// Factor is a part of the TTL, such as "1%" or "0.01": from 0 to less than 1, in at most 64 characters, and used exactly.
	// Empty means 0.
	Factor   string
	Constant time.Duration // not negative
}

// DefaultDrift is the allowance of the Redlock reference implementation: 1 % of the TTL and 2 ms.
func DefaultDrift() Drift {
	return Drift{Factor: "1%", Constant: 2 * time.Millisecond}
}

// defaultAllowance is the [DefaultDrift].
var defaultAllowance = func() allowance {
	a, err := DefaultDrift().allowance()
	if err != nil {
		panic(err)
	}
	return a
}()

// For is the allowance for a TTL: exact, rounded up to the next nanosecond, and at most the largest Duration. The error, for a
// Drift that [WithDrift] refuses or a negative TTL, matches [ErrInvalid].
func (d Drift) For(ttl time.Duration) (time.Duration, error) {
	a, err := d.allowance()
	switch {
	case err != nil:
		return 0, err
	case ttl < 0:
		return 0, fmt.Errorf("%w: TTL %v is negative", ErrInvalid, ttl)
	}
	return a.of(ttl), nil
}

// allowance is a valid Drift, parsed.
type allowance struct {
	factor   decimal.Decimal
	constant time.Duration
}

// of is described at [Drift.For].
func (a allowance) of(ttl time.Duration) time.Duration {
	allowance := decimal.NewFromInt(int64(ttl)).Mul(a.factor).Ceil().Add(decimal.NewFromInt(int64(a.constant)))
	if allowance.GreaterThan(decimal.NewFromInt(math.MaxInt64)) {
		return math.MaxInt64
	}
	return time.Duration(allowance.IntPart())
}

// longestFactor is the most characters of a factor, which limits what it costs to compute with it.
const longestFactor = 64

// allowance parses and checks a Drift.
func (d Drift) allowance() (allowance, error) {
	number, isPercentage := strings.CutSuffix(d.Factor, "%")
	factor := decimal.Zero
	if d.Factor != "" {
		var err error
		factor, err = decimal.NewFromString(number)
		// The exponents that decimal reads could stand for numbers of any length.
		if err != nil || len(d.Factor) > longestFactor || strings.ContainsAny(number, "eE") {
			return allowance{}, fmt.Errorf("%w: drift factor %q is not a part of the TTL, as \"1%%\" or \"0.01\"", ErrInvalid, printable.Short(d.Factor, longestFactor))
		}
	}
	if isPercentage {
		factor = factor.Shift(-2)
	}
	switch {
	case factor.IsNegative() || factor.GreaterThanOrEqual(decimal.NewFromInt(1)):
		return allowance{}, fmt.Errorf("%w: drift factor %s is not from 0 to less than 1", ErrInvalid, d.Factor)
	case d.Constant < 0:
		return allowance{}, fmt.Errorf("%w: drift constant %v is negative", ErrInvalid, d.Constant)
	}
	return allowance{factor, d.Constant}, nil
}
