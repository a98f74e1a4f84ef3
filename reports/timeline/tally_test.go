package timeline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

var threeSeats = seating{[]string{"A", "B", "C"}, map[string]int{"A": 0, "B": 1, "C": 2, "C2": 2}}

// At each moment of a count just those seats keep the value that have a stretch then. A count of no length has those too whose
// stretch has none.
func TestTalliesAreWhatNodesKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []kept
		for range rapid.IntRange(1, 12).Draw(t, "stretches") {
			from := rapid.IntRange(0, 9).Draw(t, "from")
			all = append(all, kept{node: rapid.SampledFrom([]string{"A", "B", "C", "C2"}).Draw(t, "node"),
				from: Instant(from), to: Instant(from + rapid.IntRange(0, 4).Draw(t, "length"))})
		}
		keeps := func(seat int, is func(kept) bool) bool {
			return slices.ContainsFunc(all, func(k kept) bool { return threeSeats.of[k.node] == seat && is(k) })
		}
		var brief, lasting [14][]string // the seats at each moment, and from it to the next
		for i, name := range threeSeats.names {
			for at := range Instant(14) {
				isAt := func(k kept) bool { return k.from <= at && at < k.to }
				if keeps(i, isAt) {
					lasting[at] = append(lasting[at], name)
				}
				if keeps(i, func(k kept) bool { return isAt(k) || k.from == at }) {
					brief[at] = append(brief[at], name)
				}
			}
		}
		var got [14][]string
		for _, counts := range threeSeats.counted(all) {
			if last := counts[len(counts)-1]; last.seats != nil || last.from != last.to {
				t.Fatalf("a tally ends with %+v", last)
			}
			for _, c := range counts {
				if c.from == c.to && c.seats != nil && !slices.Equal(c.seats, brief[c.from]) {
					t.Errorf("at %d %v keep it, by the tallies %v", c.from, brief[c.from], c.seats)
				}
				for at := c.from; at < c.to; at++ {
					got[at] = c.seats
				}
			}
		}
		for at := range got {
			if !slices.Equal(got[at], lasting[at]) {
				t.Errorf("from %d on %v keep it, by the tallies %v", at, lasting[at], got[at])
			}
		}
	})
}
