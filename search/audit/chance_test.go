package audit

import (
	"math/big"
	"testing"
	"time"

	"redlocksim/sim/network"
)

func TestWithin(t *testing.T) {
	steps := network.Latency{Points: []network.Quantile{{Share: 0, At: 10}, {Share: 500_000, At: 20}, {Share: 900_000, At: 20}, {Share: network.Million, At: 30}}}
	for _, c := range []struct {
		l    network.Latency
		d    time.Duration
		want string
	}{
		// The delays 0 to 9 are equally likely.
		{network.Uniform(0, 10), 4, "1/2"}, {network.Uniform(0, 10), 9, "1/1"}, {network.Uniform(0, 10), -1, "0/1"}, {network.Uniform(5, 10), 4, "0/1"},
		{network.Constant(7), 6, "0/1"}, {network.Constant(7), 7, "1/1"}, {network.Latency{}, 0, "1/1"},
		// Half of them from 10 to 19, four tenths 20, a tenth from 20 to 29.
		{steps, 14, "1/4"}, {steps, 19, "1/2"}, {steps, 20, "91/100"}, {steps, 24, "19/20"},
	} {
		if got := withinNS(c.l, c.d); got.String() != c.want {
			t.Errorf("%v of %v: %s, want %s", c.d, c.l, got, c.want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	half := big.NewRat(1, 2)
	for _, c := range []struct {
		k, n int
		p    *big.Rat
		want string
	}{{2, 3, half, "1/2"}, {3, 5, half, "1/2"}, {3, 4, half, "5/16"}, {4, 3, half, "0/1"}, {0, 0, half, "1/1"}, {2, 2, big.NewRat(9, 10), "81/100"},
		{3, 5, new(big.Rat), "0/1"}, {3, 5, big.NewRat(1, 1), "1/1"}} {
		if got := chanceOf(c.k, c.n, c.p); got.String() != c.want {
			t.Errorf("%d of %d: %s, want %s", c.k, c.n, got, c.want)
		}
	}
}

func TestQuorumWithin(t *testing.T) {
	// Of three uniform delays the second is the median of the distribution half of the time.
	if got := quorumWithin(network.Uniform(0, 1000), 2, 3, big.NewRat(1, 2), 5000); got != 499 {
		t.Errorf("%d", got)
	}
	if got := quorumWithin(network.Uniform(0, 1000), 3, 2, big.NewRat(1, 2), 5000); got != 0 {
		t.Errorf("%d", got)
	}
}
