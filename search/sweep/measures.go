package sweep

import (
	"slices"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// Measures are what calls cost, in true time.
type Measures struct {
	// Unavailable is the longest time for which nobody could get the lock though somebody asked.
	Unavailable time.Duration `json:"unavailable_ns"`
	// Acquires is how many calls were granted the lock, and Refused how many were not.
	Acquires int `json:"acquires"`
	Refused  int `json:"refused"`
	// P50 and P99 are quantiles of how long the granted ones took.
	P50 time.Duration `json:"acquire_p50_ns"`
	P99 time.Duration `json:"acquire_p99_ns"`
}

// meter collects Measures.
type meter struct {
	Measures
	took []time.Duration
}

func (m *meter) add(r *scenarios.Result) {
	m.Unavailable = max(m.Unavailable, r.Unavailable)
	took, refused := Acquires(r.History)
	m.took, m.Refused = append(m.took, took...), m.Refused+refused
}

// Acquires is how long the acquires of a history took that were granted the lock, in their order, and how many were refused it.
func Acquires(h history.History) (took []time.Duration, refused int) {
	called := map[int]int64{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Func != history.Acquire:
		case e.Kind == history.Call:
			called[e.Op] = e.Time
		case e.Kind == history.Return && e.Outcome == history.OK:
			took = append(took, time.Duration(e.Time-called[e.Op]))
		case e.Kind == history.Return:
			refused++
		}
	}
	return took, refused
}

func (m *meter) sum() Measures {
	slices.Sort(m.took)
	m.Acquires, m.P50, m.P99 = len(m.took), rank(m.took, 50), rank(m.took, 99)
	return m.Measures
}

// rank is the smallest of the sorted values that at least percent of them do not exceed; 0 if there are none.
func rank(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}
