package faketime

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// A clock reads what the definition says, worked out in integers of any size, and first reads a reading when it does.
func TestSkew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Skew{
			Since: rapid.Int64Range(0, 1e15).Draw(t, "since"),
			Ahead: rapid.Int64Range(-1e14, 1e14).Draw(t, "ahead"),
			Rate:  rapid.OneOf(rapid.Int64Range(Standing+1, Billion), rapid.SampledFrom([]int64{0, Billion, -Billion / 2})).Draw(t, "rate"),
		}
		elapsed := rapid.Int64Range(0, 1e15).Draw(t, "elapsed")
		grown := new(big.Int).Mul(big.NewInt(elapsed), big.NewInt(l.Rate))
		grown.Quo(grown, big.NewInt(Billion))
		if got, want := l.Read(l.Since+elapsed), l.Since+elapsed+l.Ahead+grown.Int64(); got < want-1 || got > want+1 {
			t.Fatalf("it reads %d after %d, want %d", got, elapsed, want)
		}
		reading := l.Read(l.Since) + rapid.Int64Range(1, 1e14).Draw(t, "more")
		at := l.When(reading)
		if at != Never && l.Read(at) < reading {
			t.Fatalf("at %d it reads %d, not yet %d", at, l.Read(at), reading)
		}
		// Rounding makes a difference of a nanosecond, which a slow clock takes longer to read.
		if early := at - 1 - 2*Billion/(l.Rate+Billion); at != Never && l.Read(early) >= reading {
			t.Fatalf("at %d, before %d, it reads %d already, at least %d", early, at, l.Read(early), reading)
		}
		turned := l.WithRate(l.Since+elapsed, rapid.Int64Range(Standing, Billion).Draw(t, "other rate"))
		if got, want := turned.Read(l.Since+elapsed), l.Read(l.Since+elapsed); got != want {
			t.Fatalf("with another rate it reads %d at once, and read %d", got, want)
		}
	})
}

func TestStanding(t *testing.T) {
	l := Skew{Since: 100, Ahead: 20, Rate: Standing}
	for now, want := range map[int64]int64{100: 120, 101: 120, 1e12: 120} {
		if got := l.Read(now); got != want {
			t.Errorf("at %d it reads %d, want %d", now, got, want)
		}
	}
	for reading, want := range map[int64]int64{119: 100, 120: 100, 121: Never} {
		if got := l.When(reading); got != want {
			t.Errorf("it reads %d at %d, want %d", reading, got, want)
		}
	}
	if got := (Skew{Since: 5}).When(Never); got != Never {
		t.Errorf("a reading that does not come is read at %d", got)
	}
	if got := (Skew{Since: 5, Rate: -Billion / 2}).When(Never - 10); got != Never {
		t.Errorf("a reading that is too far off is read at %d", got)
	}
}
