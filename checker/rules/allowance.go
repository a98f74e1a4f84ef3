package rules

import (
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/scenarios/protocols"
)

// allowance is CLOCK_DRIFT for a TTL, rounded up. It is computed here and not by the library, which the monitors judge.
func allowance(d protocols.Drift, ttl time.Duration) time.Duration {
	return time.Duration(d.Factor.Ratio().Mul(decimal.NewFromInt(int64(ttl))).Ceil().IntPart()) + d.Constant
}
