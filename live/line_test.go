package live

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// A clock reads what the definition says, worked out in integers of any size, and first reads a reading when it does.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := line{
			since: rapid.Int64Range(0, 1e15).Draw(t, "since"),
			ahead: rapid.Int64Range(-1e14, 1e14).Draw(t, "ahead"),
			rate:  rapid.OneOf(rapid.Int64Range(standing+1, billion), rapid.SampledFrom([]int64{0, billion, -billion / 2})).Draw(t, "rate"),
		}
		elapsed := rapid.Int64Range(0, 1e15).Draw(t, "elapsed")
		grown := new(big.Int).Mul(big.NewInt(elapsed), big.NewInt(l.rate))
		grown.Quo(grown, big.NewInt(billion))
		if got, want := l.read(l.since+elapsed), l.since+elapsed+l.ahead+grown.Int64(); got < want-1 || got > want+1 {
			t.Fatalf("it reads %d after %d, want %d", got, elapsed, want)
		}
		reading := l.read(l.since) + rapid.Int64Range(1, 1e14).Draw(t, "more")
		at := l.when(reading)
		if at != never && l.read(at) < reading {
			t.Fatalf("at %d it reads %d, not yet %d", at, l.read(at), reading)
		}
		// Rounding makes a difference of a nanosecond, which a slow clock takes longer to read.
		if early := at - 1 - 2*billion/(l.rate+billion); at != never && l.read(early) >= reading {
			t.Fatalf("at %d, before %d, it reads %d already, at least %d", early, at, l.read(early), reading)
		}
		turned := l.turn(l.since+elapsed, rapid.Int64Range(standing, billion).Draw(t, "other rate"))
		if got, want := turned.read(l.since+elapsed), l.read(l.since+elapsed); got != want {
			t.Fatalf("with another rate it reads %d at once, and read %d", got, want)
		}
	})
}

func TestLineThatStands(t *testing.T) {
	l := line{since: 100, ahead: 20, rate: standing}
	for now, want := range map[int64]int64{100: 120, 101: 120, 1e12: 120} {
		if got := l.read(now); got != want {
			t.Errorf("at %d it reads %d, want %d", now, got, want)
		}
	}
	for reading, want := range map[int64]int64{119: 100, 120: 100, 121: never} {
		if got := l.when(reading); got != want {
			t.Errorf("it reads %d at %d, want %d", reading, got, want)
		}
	}
	if got := (line{since: 5}).when(never); got != never {
		t.Errorf("a reading that does not come is read at %d", got)
	}
	if got := (line{since: 5, rate: -billion / 2}).when(never - 10); got != never {
		t.Errorf("a reading that is too far off is read at %d", got)
	}
}
