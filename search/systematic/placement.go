package systematic

import (
	"math/bits"
	"slices"

	"redlocksim/scenarios"
)

// place is the base with the placements of these numbers.
func (b *Base) place(numbers []uint64) *scenarios.Scenario {
	s := *b.scenario
	s.Timeline = slices.Clip(s.Timeline)
	for _, n := range numbers {
		item := b.faults[n%uint64(len(b.faults))]
		item.When = b.moments[n/uint64(len(b.faults))]
		s.Timeline = append(s.Timeline, item)
	}
	return &s
}

// pair is the two placements of a pair, by its number, among n.
func pair(k, n uint64) []uint64 {
	// The pairs whose first is i begin at i·(2n − i − 1)/2.
	begin := func(i uint64) uint64 { return i * (2*n - i - 1) / 2 }
	lo, hi := uint64(0), n-1
	for lo+1 < hi {
		if mid := (lo + hi) / 2; begin(mid) <= k {
			lo = mid
		} else {
			hi = mid
		}
	}
	return []uint64{lo, lo + 1 + k - begin(lo)}
}

// stride is a step that spreads any number of placements evenly over all n: close to the golden ratio, and coprime to n so that
// every placement comes up once.
func stride(n uint64) uint64 {
	gcd := func(a, b uint64) uint64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	hi, lo := bits.Mul64(n, 618_034)
	s, _ := bits.Div64(hi, lo, 1_000_000)
	for s = max(s, 1); gcd(s, n) != 1; s++ {
	}
	return s
}
