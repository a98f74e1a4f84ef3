package rules

import (
	"testing"
	"time"

	"redlocksim/scenarios/protocols"
)

func TestTheAllowanceIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		factor   string
		constant time.Duration
		ttl      time.Duration
		want     time.Duration
	}{
		{"1%", 2 * time.Millisecond, 10 * time.Second, 102 * time.Millisecond},
		{"0%", 2 * time.Millisecond, 10 * time.Second, 2 * time.Millisecond},
		{"0.5%", 0, 1, 1},
		{"33.3%", 0, 10, 4},
	} {
		var d protocols.Drift
		if err := d.Factor.UnmarshalScalar(c.factor); err != nil {
			t.Fatal(err)
		}
		d.Constant = c.constant
		if got := allowance(d, c.ttl); got != c.want {
			t.Errorf("%s and %v of %v: %v, want %v", c.factor, c.constant, c.ttl, got, c.want)
		}
	}
}
