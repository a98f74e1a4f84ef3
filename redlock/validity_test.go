package redlock

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

// What is granted is never more than the exact TTL − elapsed − (TTL × factor + constant), and less than 1 ns below it.
func TestValidityAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ttl := time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(t, "ttl"))
		elapsed := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "elapsed"))
		digits := rapid.Int64Range(0, 18).Draw(t, "digits")
		scale := int64(1)
		for range digits {
			scale *= 10
		}
		factor := decimal.New(rapid.Int64Range(0, scale-1).Draw(t, "factor"), -int32(digits))
		text := factor.String()
		if rapid.Bool().Draw(t, "percent") {
			text = factor.Shift(2).String() + "%"
		}
		d := Drift{Factor: text, Constant: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "constant"))}
		drift, err := d.For(ttl)
		if err != nil {
			t.Fatal(err)
		}

		first := time.Now()
		exact := new(big.Rat).Mul(rat(ttl), factor.Rat())
		exact.Add(exact, rat(d.Constant))
		exact.Sub(new(big.Rat).Sub(rat(ttl), rat(elapsed)), exact)

		loss := new(big.Rat).Sub(exact, rat(term{ttl, drift}.validity(first, first.Add(elapsed)).left))
		if loss.Sign() < 0 {
			t.Fatalf("validity is larger than the exact %s ns by %s", exact.FloatString(20), loss.Neg(loss).FloatString(20))
		}
		if loss.Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("validity is smaller than the exact %s ns by %s", exact.FloatString(20), loss.FloatString(20))
		}
	})
}

func rat(d time.Duration) *big.Rat { return new(big.Rat).SetInt64(int64(d)) }

func TestDriftFor(t *testing.T) {
	for _, c := range []struct {
		factor   string
		constant time.Duration
		ttl      time.Duration
		want     time.Duration
	}{
		{"0.01", 2 * time.Millisecond, 10 * time.Second, 102 * time.Millisecond},
		{"0.01", 2 * time.Millisecond, time.Second, 12 * time.Millisecond},
		{"1%", 2 * time.Millisecond, time.Second, 12 * time.Millisecond},
		{"0.5%", 0, time.Second, 5 * time.Millisecond},
		{"0", 0, time.Hour, 0},
		{"", 0, time.Hour, 0},
		{"0", 3, time.Hour, 3},
		{"0.1", 0, 1, 1},  // 0.1 ns becomes a whole one
		{"0.1", 0, 10, 1}, // and a whole one stays
		{"0.1", 0, 11, 2},
		{"0.181818181818181818", 0, 10 * time.Second, 1818181819},
		{"0.999999999999999999999999999999", 0, 100 * time.Second, 100 * time.Second},
		{"0.000000000000000000000000000001", 0, 100 * time.Second, 1},
	} {
		d := Drift{Factor: c.factor, Constant: c.constant}
		if got, err := d.For(c.ttl); err != nil || got != c.want {
			t.Errorf("%s × %v + %v = %d ns, want %d: %v", c.factor, c.ttl, c.constant, got, c.want, err)
		}
	}
}

// A drift that no client takes has no allowance either.
func TestDriftForRefusesWhatAClientRefuses(t *testing.T) {
	for _, c := range []struct {
		drift Drift
		ttl   time.Duration
		want  string
	}{
		{Drift{Factor: "-1%"}, time.Second, "drift factor -1% is not from 0 to less than 1"},
		{Drift{Factor: "-0.000000000000000001"}, time.Second, "drift factor -0.000000000000000001 is not from 0 to less than 1"},
		{Drift{Factor: "100%"}, time.Second, "drift factor 100% is not from 0 to less than 1"},
		{Drift{Factor: "2"}, time.Second, "drift factor 2 is not from 0 to less than 1"},
		{Drift{Factor: "1 %"}, time.Second, `drift factor "1 %" is not a part of the TTL, as "1%" or "0.01"`},
		{Drift{Constant: -1}, time.Second, "drift constant -1ns is negative"},
		{Drift{Factor: "1%", Constant: -time.Second}, time.Second, "drift constant -1s is negative"},
		{DefaultDrift(), -1, "TTL -1ns is negative"},
	} {
		got, err := c.drift.For(c.ttl)
		if !errors.Is(err, ErrInvalid) || err.Error() != ErrInvalid.Error()+": "+c.want || got != 0 {
			t.Errorf("%+v for %v: %v, %v; want %s", c.drift, c.ttl, got, err, c.want)
		}
		if _, err := New(fakes(1), WithDrift(c.drift)); (err == nil) != (c.ttl < 0) {
			t.Errorf("New with %+v: %v", c.drift, err)
		}
	}
}

func TestDefaultDrift(t *testing.T) {
	if d := DefaultDrift(); d.Factor != "1%" || d.Constant != 2*time.Millisecond {
		t.Errorf("default drift %s and %v, want 1%% and 2ms", d.Factor, d.Constant)
	}
	cl, err := New(fakes(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cl.term(10 * time.Second); err != nil || got.drift != 102*time.Millisecond {
		t.Errorf("a client without the option allows for %v in 10s, want 1%% and 2ms: %v", got.drift, err)
	}
}

func TestTTL(t *testing.T) {
	for _, c := range []struct {
		ttl  time.Duration
		want string
	}{
		{10 * time.Second, ""},
		{3 * time.Millisecond, ""}, // allowance 2.03 ms
		{0, "redlock: invalid argument: TTL 0s is not a positive whole number of milliseconds, as Redis keeps it"},
		{-time.Second, "redlock: invalid argument: TTL -1s is not a positive whole number of milliseconds, as Redis keeps it"},
		{time.Second + 1, "redlock: invalid argument: TTL 1.000000001s is not a positive whole number of milliseconds, as Redis keeps it"},
		{999 * time.Microsecond, "redlock: invalid argument: TTL 999µs is not a positive whole number of milliseconds, as Redis keeps it"},
		{2 * time.Millisecond, "redlock: invalid argument: TTL 2ms is not larger than its drift allowance 2.02ms, no grant could be valid"},
		{time.Millisecond, "redlock: invalid argument: TTL 1ms is not larger than its drift allowance 2.01ms, no grant could be valid"},
	} {
		cl, err := New(fakes(1))
		if err != nil {
			t.Fatal(err)
		}
		// Twice, as the last TTL is remembered, and after a good one.
		for range 2 {
			got, err := cl.term(c.ttl)
			if c.want == "" {
				if err != nil || got.ttl != c.ttl || got.drift != defaultAllowance.of(c.ttl) {
					t.Errorf("TTL %v: %+v, %v", c.ttl, got, err)
				}
			} else if err == nil || err.Error() != c.want || !errors.Is(err, ErrInvalid) {
				t.Errorf("TTL %v: got %v\nwant %s", c.ttl, err, c.want)
			}
			if _, err := cl.term(time.Second); err != nil {
				t.Error(err)
			}
		}
	}
}

// An allowance as large as the TTL leaves nothing; one nanosecond less leaves a nanosecond.
func TestTTLAtTheAllowance(t *testing.T) {
	for constant, refused := range map[time.Duration]bool{time.Second: true, time.Second - 1: false} {
		c, err := New(fakes(1), WithDrift(Drift{Constant: constant}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.term(time.Second); (err != nil) != refused {
			t.Errorf("TTL 1s with an allowance of %v: %v", constant, err)
		}
	}
}

// An allowance that is too large for a Duration leaves no TTL valid.
func TestDriftDoesNotOverflow(t *testing.T) {
	c, err := New(fakes(1), WithDrift(Drift{Factor: DefaultDrift().Factor, Constant: math.MaxInt64}))
	if err != nil {
		return
	}
	if got, err := c.term(time.Second); err == nil {
		t.Errorf("TTL %v with an allowance of %v", got.ttl, got.drift)
	}
}
