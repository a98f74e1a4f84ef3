//go:build linux

package main

import (
	"slices"
	"time"
)

// median is the middle one of the values, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// row is what all rounds say of a cell.
type row struct {
	cell
	figures         // medians; operations and failures of all rounds together
	speed   float64 // time of redsync's best divided by this one's, median of the rounds; zero if redsync was not measured
	rounds  int     // in which at least one operation succeeded
}

// rowsOf sums up the rounds: rounds[i][j] is of the cell j.
func rowsOf(all []cell, rounds [][]figures) []row {
	rows := make([]row, len(all))
	for j, x := range all {
		r := &rows[j]
		r.cell = x
		pick := func(of func(figures) float64) float64 {
			var values []float64
			for _, round := range rounds {
				if round[j].operations > 0 {
					values = append(values, of(round[j]))
				}
			}
			r.rounds = len(values)
			return median(values)
		}
		r.micros = pick(func(f figures) float64 { return f.micros })
		r.p50 = time.Duration(pick(func(f figures) float64 { return float64(f.p50) }))
		r.p99 = time.Duration(pick(func(f figures) float64 { return float64(f.p99) }))
		r.p999 = time.Duration(pick(func(f figures) float64 { return float64(f.p999) }))
		r.mallocs = pick(func(f figures) float64 { return f.mallocs })
		r.clientCPU = pick(func(f figures) float64 { return f.clientCPU })
		r.serverCPU = pick(func(f figures) float64 { return f.serverCPU })
		r.executed = pick(func(f figures) float64 { return f.executed })
		r.reads = pick(func(f figures) float64 { return f.reads })
		var speeds []float64
		for _, round := range rounds {
			f := round[j]
			r.operations += f.operations
			r.waiting += f.waiting
			r.failures += f.failures
			if r.err == nil {
				r.err = f.err
			}
			if best := bestPeer(all, round, x.group()); best > 0 && f.micros > 0 {
				speeds = append(speeds, best/f.micros)
			}
		}
		r.speed = median(speeds)
	}
	return rows
}

// bestPeer is the least time of redsync, in whichever way it was set up, in one round; zero if there is none.
func bestPeer(all []cell, round []figures, group compared) (best float64) {
	for j, x := range all {
		if f := round[j]; x.contestant.redsync && x.group() == group && f.micros > 0 && (best == 0 || f.micros < best) {
			best = f.micros
		}
	}
	return best
}
