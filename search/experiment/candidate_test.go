package experiment

import (
	"slices"
	"testing"

	"redlocksim/faults"
)

// Every kind of fault is added about as often as any other, and one that joins the vocabulary takes its share from each of
// the others and moves nothing else.
func TestAKindThatJoinsMovesNothing(t *testing.T) {
	const draws = 17_000
	all := faults.Vocabulary()
	times := map[string]int{}
	for newest := range all {
		before := slices.Delete(slices.Clone(all), newest, newest+1)
		for seed := range uint64(draws / len(all)) {
			c := Choices(seed, "word", newest)
			was, is := choose(c, before).Name, choose(c, all).Name
			if is != was && is != all[newest].Name {
				t.Fatalf("seed %d: %s was chosen, and %s is with %s", seed, was, is, all[newest].Name)
			}
			times[is]++
		}
	}
	share := draws / len(all)
	for _, k := range all {
		if n := times[k.Name]; n < share*8/10 || n > share*12/10 {
			t.Errorf("%s was chosen %d times of about %d", k.Name, n, share)
		}
	}
}
