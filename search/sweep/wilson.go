package sweep

import "math"

// Quantiles of the normal distribution, for two-sided confidence.
const (
	// Z95 is for 95 %.
	Z95 = 1.959963984540054
	// Z9999 is for 99.99 %: what is outside that is not chance.
	Z9999 = 3.890591886413094
)

// Interval is a confidence interval for a share.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Has says whether a share is in it.
func (i Interval) Has(share float64) bool { return i.Low <= share && share <= i.High }

// Wilson is the score interval for k of n (Wilson 1927), which also says something where k is 0 or n. Without any it is
// everything.
func Wilson(k, n int, z float64) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	whole := 1 + z*z/m
	i := Interval{max((middle-half)/whole, 0), min((middle+half)/whole, 1)}
	// Exact where rounding would not be.
	if k == 0 {
		i.Low = 0
	}
	if k == n {
		i.High = 1
	}
	return i
}
