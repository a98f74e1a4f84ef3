package scenarios

import (
	"fmt"
	"runtime"
	"sync"
)

// Suite verifies each scenario on each tier with the seed, several at a time, and returns the results scenario by
// scenario. Where a scenario's histories differ between tiers, the later result has it as a problem.
func Suite(all []*Scenario, tiers []Tier, seed uint64) ([]*Result, error) {
	results := make([]*Result, len(all)*len(tiers))
	errs := make([]error, len(results))
	work := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range work {
				results[i], errs[i] = Verify(all[i/len(tiers)], Options{Tier: tiers[i%len(tiers)], Seed: seed})
			}
		})
	}
	for i := range results {
		work <- i
	}
	close(work)
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		first := results[i-i%len(tiers)]
		if r := results[i]; r.HistoryHash != first.HistoryHash {
			r.Problems = append(r.Problems, Problem{Safety, fmt.Sprintf("the history is not the same as on %s: %s", first.Tier, FirstDifference(first.History, r.History))})
		}
	}
	return results, nil
}
