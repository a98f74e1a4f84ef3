package sweep

import (
	"math"
	"testing"
	"time"
)

// Worked out by hand: with k = 0 the upper bound is z²/(n+z²); with k = n/2 the middle is a half, and the square of half
// the width is z²/(4(n+z²)); and what holds for k holds for n−k the other way round.
func TestWilson(t *testing.T) {
	const z2 = Z95 * Z95
	half := math.Sqrt(z2 / (4 * (100 + z2)))
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, z2 / (10 + z2)},
		{10, 10, 1 - z2/(10+z2), 1},
		{50, 100, 0.5 - half, 0.5 + half},
		{0, 0, 0, 1},
		// Newcombe 1998, Statistics in Medicine 17, table I: 81 of 263 gives 0.2553 to 0.3662.
		{81, 263, 0.2553, 0.3662},
	} {
		got := Wilson(c.k, c.n, Z95)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %+v, want %v to %v", c.k, c.n, got, c.low, c.high)
		}
	}
	if wide := Wilson(5, 10, Z9999); !wide.Has(0.85) || Wilson(5, 10, Z95).Has(0.85) {
		t.Errorf("%+v", wide)
	}
}

func TestRank(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, c := range []struct {
		of            []time.Duration
		percent, want int
	}{{hundred, 50, 50}, {hundred, 99, 99}, {hundred[:1], 50, 1}, {hundred[:3], 50, 2}, {hundred[:3], 99, 3}, {nil, 50, 0}} {
		if got := rank(c.of, c.percent); got != time.Duration(c.want) {
			t.Errorf("%d %% of %d: %d, want %d", c.percent, len(c.of), got, c.want)
		}
	}
}
