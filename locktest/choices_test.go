package locktest

import (
	"testing"

	"pgregory.net/rapid"

	"redlocksim/faults"
	_ "redlocksim/internal/nofailfile"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

func TestChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<40).Draw(t, "n")
		c := newChoices(t)
		first := c.For("a", 1).For("b", 2).Below(n)
		if first < 0 || first >= n {
			t.Fatalf("%d is not below %d", first, n)
		}
		_ = c.For("a", 2).Below(n)
		if again := c.For("a", 1).For("b", 2).Below(n); again != first {
			t.Fatalf("for the same thing %d and then %d", first, again)
		}
	})
}

// TestChoicesSpread: a quarter of an even spread is in each quarter; what rapid prefers may take some of it away, and must
// not take nearly all. Among a few, each comes up.
func TestChoicesSpread(t *testing.T) {
	const runs = 400
	below := func(n int64) *rapid.Generator[int64] {
		return rapid.Custom(func(t *rapid.T) int64 { return newChoices(t).For("x", 0).Below(n) })
	}
	const large = 20_000_000_000
	var quarters, few [4]int
	for seed := range runs {
		quarters[4*below(large).Example(seed)/large]++
		few[below(4).Example(seed)]++
	}
	for i := range quarters {
		if min(quarters[i], few[i]) < runs/10 {
			t.Errorf("of %d, %v in each quarter of a large range, and %v of each of four", runs, quarters, few)
			break
		}
	}
}

// calm always makes the calmest choice, which is what rapid goes for.
type calm struct{}

func (calm) For(string, int) faults.Choices { return calm{} }
func (calm) Below(int64) int64              { return 0 }

func TestTheCalmestExperimentHasNoFaults(t *testing.T) {
	if kinds := search.Families(experiment.NewSpace(experiment.DefaultBase()).Draw(calm{})); len(kinds) > 0 {
		t.Errorf("it has %v", kinds)
	}
}
