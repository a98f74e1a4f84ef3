package reach

import (
	"slices"

	"redlocksim/checker"
)

// Premises is how often each rule of the checker had something to judge in a run, by its name in the table: a rule that had
// nothing to judge finds nothing, whatever the lock does.
func Premises(r *checker.Report) map[string]int {
	all := map[string]int{}
	for _, e := range Table() {
		if e.Kind == Rule {
			all[e.Name] = e.judged(r)
		}
	}
	return all
}

// Blind says that in some runs the resource refused writes that carried no token and no mark, and that it went by tokens or
// marks in none: that no write was stale and no update was lost is then its doing, and not the lock's.
func (t *Tally) Blind() bool {
	return slices.Contains(t.Unused, Checks) && t.Reached.Reached(Step, refusedBlindly) > 0
}
