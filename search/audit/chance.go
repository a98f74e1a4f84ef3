package audit

import (
	"math/big"
	"sort"
	"time"

	"redlocksim/sim/network"
)

// withinNS is the chance that a delay of the distribution is at most d, exactly but for the fineness with which the
// simulator draws, a millionth of a millionth.
func withinNS(l network.Latency, d time.Duration) *big.Rat {
	n := len(l.Points)
	switch {
	case n == 0 || d >= l.Points[n-1].At:
		return big.NewRat(1, 1)
	case d < l.Points[0].At:
		return new(big.Rat)
	}
	// The last segment that begins at or below d; delays in it are whole nanoseconds, rounded down.
	i := sort.Search(n, func(i int) bool { return l.Points[i].At > d }) - 1
	lo, hi := l.Points[i], l.Points[i+1]
	part := new(big.Rat).Mul(big.NewRat(int64(d-lo.At)+1, int64(hi.At-lo.At)), big.NewRat(int64(hi.Share-lo.Share), network.Million))
	return part.Add(part, big.NewRat(int64(lo.Share), network.Million))
}

// chanceOf is the chance that of n independent trials with chance p at least k succeed.
func chanceOf(k, n int, p *big.Rat) *big.Rat {
	sum, q := new(big.Rat), new(big.Rat).Sub(big.NewRat(1, 1), p)
	for i := k; i <= n; i++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		sum.Add(sum, term.Mul(term, power(p, i)).Mul(term, power(q, n-i)))
	}
	return sum
}

func power(x *big.Rat, n int) *big.Rat {
	e := big.NewInt(int64(n))
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// quorumWithin is the smallest time by which a quorum of the nodes has answered with at least this chance, given that it
// has by the limit; it is the limit if the chance is never as large.
func quorumWithin(l network.Latency, quorum, up int, chance *big.Rat, limit time.Duration) time.Duration {
	wanted := new(big.Rat).Mul(chance, chanceOf(quorum, up, withinNS(l, limit)))
	low, high := time.Duration(0), limit
	for low < high {
		middle := low + (high-low)/2
		if chanceOf(quorum, up, withinNS(l, middle)).Cmp(wanted) >= 0 {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
