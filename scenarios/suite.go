package scenarios

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Suite verifies each scenario on each tier, several at a time, and returns the results scenario by scenario. The seed, if
// it is zero, is the one that a scenario was recorded with. Where a scenario's histories differ between tiers, the later result has it as a problem. done, if not nil, is
// told of each result by its index as soon as it is there and before tiers are compared, and how long it took on this
// machine; it is called by one goroutine at a time.
func Suite(all []*Scenario, tiers []Tier, seed uint64, done func(i int, took time.Duration)) ([]*Result, error) {
	results := make([]*Result, len(all)*len(tiers))
	errs := make([]error, len(results))
	work := make(chan int)
	var workers sync.WaitGroup
	var telling sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range work {
				start := time.Now()
				s, o := all[i/len(tiers)], Options{Tier: tiers[i%len(tiers)], Seed: seed}
				if s.Recorded != nil && seed == 0 {
					o.Seed = s.Recorded.Seed
				}
				results[i], errs[i] = Verify(s, o)
				if done != nil {
					telling.Lock()
					done(i, time.Since(start))
					telling.Unlock()
				}
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
