package search

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// However many runs there are, and in whatever order they come, the same few are kept of each kind of fault.
func TestEffectsInAnyOrder(t *testing.T) {
	const want = "map[kill:[00 0 00 1] pause:[07 3 14 3]]"
	for seed := range uint64(5) {
		var sum Effects
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(20) {
			for number := range 4 {
				sum.Add(Injected{Place: fmt.Sprintf("%02d", i), Number: number}, []string{"kill"})
			}
			if i%7 == 0 && i > 0 {
				sum.Add(Injected{Place: fmt.Sprintf("%02d", i), Number: 3}, []string{"pause", "pause"})
			}
		}
		got := map[string][]string{}
		for kind, runs := range sum.first {
			for _, run := range runs {
				got[kind] = append(got[kind], fmt.Sprint(run.Place, " ", run.Number))
			}
		}
		if text := fmt.Sprint(got); text != want {
			t.Errorf("seed %d: %s, want %s", seed, text, want)
		}
	}
}
