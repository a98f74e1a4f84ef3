package checker

import (
	"math"
	"slices"
)

// forever is the Seq of what never happens.
const forever = math.MaxInt

// span is a stretch of a history, between two Seqs; to is forever if it never ended.
type span struct{ from, to int }

// ends lists the Seqs at which the spans begin and end, ascending.
func ends(spans ...span) []int {
	var seqs []int
	for _, s := range spans {
		seqs = append(seqs, s.from)
		if s.to != forever {
			seqs = append(seqs, s.to)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}
