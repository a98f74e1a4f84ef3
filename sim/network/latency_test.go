package network

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/kernel"
)

const ms = time.Millisecond

func TestLatencyCheck(t *testing.T) {
	for _, test := range []struct {
		points []Quantile
		ok     bool
	}{
		{nil, true},
		{Constant(0).Points, true},
		{Uniform(1, 5).Points, true},
		{[]Quantile{{0, 0}, {500_000, ms}, {990_000, ms}, {Million, 9 * ms}}, true},
		{[]Quantile{{0, 0}}, false},
		{[]Quantile{{Million, 0}}, false},
		{[]Quantile{{1, 0}, {Million, 0}}, false},
		{[]Quantile{{0, 0}, {Million - 1, 0}}, false},
		{[]Quantile{{0, -1}, {Million, 0}}, false},
		{[]Quantile{{0, 0}, {700_000, 2 * ms}, {500_000, 2 * ms}, {Million, 3 * ms}}, false},
	} {
		if err := (Latency{test.points}).Check(); errors.Is(err, ErrLatency) == test.ok || test.ok != (err == nil) {
			t.Errorf("%v: %v", test.points, err)
		}
	}
}

func TestLatencyCheckFindsDisorder(t *testing.T) {
	for _, points := range [][]Quantile{
		Uniform(5, 1).Points,
		{{0, 0}, {500_000, 3 * ms}, {Million, 2 * ms}},
		{{0, 0}, {500_000, ms}, {500_000, 2 * ms}, {Million, 3 * ms}},
	} {
		if err := (Latency{points}).Check(); !errors.Is(err, ErrLatency) {
			t.Errorf("%v: %v", points, err)
		}
	}
}

func TestLatencyDraws(t *testing.T) {
	l := Latency{[]Quantile{{0, 2 * ms}, {500_000, 4 * ms}, {900_000, 10 * ms}, {Million, 110 * ms}}}
	const n = 20_000
	var below [4]int
	for i := range n {
		key := kernel.Key(0).WithString("latency").With(uint64(i))
		d := l.Draw(key)
		if d != l.Draw(key) {
			t.Fatal("the same key drew two delays")
		}
		if d < 2*ms || d > l.Max() {
			t.Fatalf("drew %v", d)
		}
		for j, at := range []time.Duration{3 * ms, 4 * ms, 10 * ms, 60 * ms} {
			if d <= at {
				below[j]++
			}
		}
	}
	for j, share := range []float64{0.25, 0.5, 0.9, 0.95} {
		if got := float64(below[j]) / n; got < share-0.015 || got > share+0.015 {
			t.Errorf("quantile %v: %v of the delays are below it", share, got)
		}
	}
}

// TestLatencyIsStable pins what is drawn, as the kernel's test does for its keys.
func TestLatencyIsStable(t *testing.T) {
	if got := Uniform(0, 1<<40).Draw(kernel.New(kernel.Config{Seed: 7}).Draw("purpose")); got != 0x2b6c82821b {
		t.Errorf("%#x", int64(got))
	}
}

func TestLatencyStaysWithinItsPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := []int64{0, 0, 0}
		for i := range times {
			times[i] = rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "at")
			if i > 0 {
				times[i] += times[i-1]
			}
		}
		share := rapid.IntRange(1, Million-1).Draw(t, "share")
		l := Latency{[]Quantile{{0, time.Duration(times[0])}, {share, time.Duration(times[1])}, {Million, time.Duration(times[2])}}}
		d := l.Draw(kernel.Key(rapid.Uint64().Draw(t, "key")))
		if d < l.Points[0].At || d > l.Max() {
			t.Fatalf("%v drew %v", l, d)
		}
	})
}

func TestLatencyWithoutChoice(t *testing.T) {
	for _, l := range []Latency{{}, Constant(7)} {
		if d := l.Draw(42); d != l.Max() {
			t.Errorf("%v drew %v", l, d)
		}
	}
}
