package rules

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/sim/redis"
)

// watchShortened has nothing that a client sends bring the end of a lock's key forward: an extend that arrives late would cut
// short a longer one, whose lease goes on. It knows only by nodes' clocks when keys end.
func watchShortened(r *Run) {
	if !r.isLibrary() {
		return
	}
	r.onApplied(func(a *redis.Applied) {
		before, after := a.Before, a.After
		if before.Key == "" || after.Key == "" || before.Value != after.Value || !slices.Contains(r.Resources, a.Key) {
			return
		}
		r.Judged[checker.JudgeShortened]++
		if after.ExpiresAt != 0 && after.ExpiresAt < before.ExpiresAt {
			r.broken(checker.Conduct, a.Key, "%s brings the end of its key on %s forward, by %v", a.Client.Name(), a.Server.Name(),
				time.Duration(before.ExpiresAt-after.ExpiresAt)*time.Millisecond)
		}
	})
}
