package frontier_test

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	. "redlocksim/internal/frontier"
)

// narrowed is what Narrow finds along numbers up to the last. Whatever they are, it looks at none twice, and its line has all
// that it looked at, in order.
func narrowed(t *testing.T, last int64, side func(int64) Side) (holds, breaks int64, line Line, isFound bool) {
	t.Helper()
	seen := map[int64]bool{}
	line, isFound, err := Narrow(last, func(i int64) (Side, error) {
		if seen[i] || i < 0 || i > last {
			t.Errorf("looks at %d again, or beyond %d", i, last)
		}
		seen[i] = true
		return side(i), nil
	})
	if err != nil || len(line.At) != len(seen) || len(line.Sides) != len(seen) || !slices.IsSorted(line.At) {
		t.Errorf("%v: the line has %v of %v", err, line, seen)
	}
	for n, i := range line.At {
		if !seen[i] || line.Sides[n] != side(i) {
			t.Errorf("the line has %v at %d", line.Sides[n], i)
		}
	}
	number := func(at int) int64 {
		if at < 0 {
			return -1
		}
		return line.At[at]
	}
	h, b, _ := Change(line.Sides)
	return number(h), number(b), line, isFound
}

// from is a row that changes once: from a number on it is another side.
func from(change int64, before, after Side) func(int64) Side {
	return func(i int64) Side {
		if i < change {
			return before
		}
		return after
	}
}

// A single change is found wherever it is, in as many looks as halving takes, and the ends.
func TestASingleChange(t *testing.T) {
	for _, last := range []int64{0, 1, 2, 7, 100, 1000} {
		for change := int64(0); change <= last+1; change++ {
			wantHolds, wantBreaks := change-1, change
			if change == 0 { // all of them break
				wantHolds, wantBreaks = -1, last
			} else if change > last { // all of them hold
				wantHolds, wantBreaks = 0, -1
			}
			holds, breaks, line, isFound := narrowed(t, last, from(change, Holds, Breaks))
			if most := 2 + bits.Len64(uint64(last)); !isFound || holds != wantHolds || breaks != wantBreaks || len(line.At) > most {
				t.Fatalf("up to %d, from %d on: %d holds, %d breaks, %v after %d looks", last, change, holds, breaks, isFound, len(line.At))
			}
			if change == 0 || change > last {
				continue
			}
			if breaks, holds, _, isFound := narrowed(t, last, from(change, Breaks, Holds)); !isFound || breaks != change || holds != change-1 {
				t.Fatalf("up to %d, from %d on it holds: %d holds, %d breaks", last, change, breaks, holds)
			}
		}
	}
}

// With noise there is more than one change. What is found is one of them all the same: two neighbours, on different sides.
func TestNoise(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		last := int64(1 + r.IntN(2000))
		change, side := 1+r.Int64N(last), map[int64]Side{}
		for i := range last + 1 {
			side[i] = from(change, Holds, Breaks)(i)
			if isEnd := i == 0 || i == last; !isEnd && r.IntN(5) == 0 {
				side[i] = []Side{Holds, Breaks}[r.IntN(2)]
			}
		}
		holds, breaks, _, isFound := narrowed(t, last, func(i int64) Side { return side[i] })
		if !isFound || max(holds-breaks, breaks-holds) != 1 || side[holds] != Holds || side[breaks] != Breaks {
			t.Fatalf("seed %d: %d holds and %d breaks, of 0 to %d", seed, holds, breaks, last)
		}
	}
}

// What cannot be tested at one end is passed over, up to the last number that can. Where it lies around the change, none is
// found.
func TestUntested(t *testing.T) {
	for _, c := range []struct {
		name          string
		side          func(int64) Side
		holds, breaks int64
		isFound       bool
		looked        int64 // at the end of what can be tested
	}{
		{"before the change", func(i int64) Side { return map[bool]Side{true: Untested, false: from(60, Holds, Breaks)(i)}[i < 20] }, 59, 60, true, 20},
		{"after the change", func(i int64) Side { return map[bool]Side{true: Untested, false: from(60, Holds, Breaks)(i)}[i > 80] }, 59, 60, true, 80},
		{"after all that holds", from(60, Holds, Untested), 0, -1, true, 59},
		{"before all that breaks", from(60, Untested, Breaks), -1, 100, true, 60},
		{"everywhere", from(0, Untested, Untested), -1, -1, false, 0},
		{"around the change", func(i int64) Side {
			return map[bool]Side{true: Untested, false: from(60, Holds, Breaks)(i)}[50 <= i && i < 70]
		}, 0, 0, false, 50},
	} {
		holds, breaks, line, isFound := narrowed(t, 100, c.side)
		if isFound != c.isFound || !slices.Contains(line.At, c.looked) || isFound && (holds != c.holds || breaks != c.breaks) {
			t.Errorf("not tested %s: %d holds, %d breaks, %v", c.name, holds, breaks, isFound)
		}
	}
	wrong := errors.New("wrong")
	if line, isFound, err := Narrow(100, func(i int64) (Side, error) { return Untested, wrong }); err != wrong || isFound || len(line.At) != 1 {
		t.Errorf("%v, %v, %v", line, isFound, err)
	}
}

// The least good number is that from which on all are, whatever the guess.
func TestLeast(t *testing.T) {
	twentieth := func(i int64) int64 { return i - i/20 }
	for _, guess := range []int64{-1, 0, 3, 700, 701, 1000, 2000} {
		for _, want := range []int64{0, 1, 2, 500, 700, 999, 1000} {
			at, err := Least(1000, guess, twentieth, func(i int64) (bool, error) { return i >= want, nil })
			if err != nil || at != want {
				t.Errorf("from a guess of %d: %d, want %d (%v)", guess, at, want, err)
			}
		}
		if at, err := Least(1000, guess, twentieth, func(int64) (bool, error) { return false, nil }); err != nil || at != -1 {
			t.Errorf("from a guess of %d: %d is none (%v)", guess, at, err)
		}
	}
	// Too much of it is bad, too.
	if at, _ := Least(1000, -1, twentieth, func(i int64) (bool, error) { return 100 <= i && i < 400, nil }); at != 100 {
		t.Errorf("%d, of 100 to 399", at)
	}
	wrong := errors.New("wrong")
	if at, err := Least(1000, -1, twentieth, func(i int64) (bool, error) { return i >= 700, map[bool]error{true: wrong}[i < 900] }); err != wrong || at != -1 {
		t.Errorf("%d, %v", at, err)
	}
}

// With noise the least is good all the same, and neither its neighbour is nor the one a twentieth before it: a bad one among
// good ones does not end the search.
func TestLeastWithNoise(t *testing.T) {
	twentieth := func(i int64) int64 { return i - i/20 }
	beyond := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		change, good := 100+r.Int64N(800), map[int64]bool{}
		for i := range int64(1001) {
			good[i] = (i >= change) != (r.IntN(10) == 0)
		}
		at, err := Least(1000, -1, twentieth, func(i int64) (bool, error) { return good[i], nil })
		if at < 0 && !good[1000] && !good[500] && !good[250] && !good[125] {
			continue
		}
		if err != nil || at < 0 || !good[at] || good[at-1] || good[twentieth(at)] {
			t.Fatalf("seed %d: %d, from %d on with noise (%v)", seed, at, change, err)
		}
		if at > change+change/20 {
			beyond++
		}
	}
	if beyond > 25 { // a twentieth: both that were looked at were noise
		t.Errorf("%d times the search ends among good ones", beyond)
	}
}
