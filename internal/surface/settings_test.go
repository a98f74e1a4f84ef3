package surface_test

import (
	"slices"

	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// settings say of options, and of fields of arguments, that the harness always passes, whether a scenario sets them to
// something else than their default.
var settings = map[string]func(s *scenarios.Scenario, lock protocols.RedlockSettings) bool{
	"WithNodeTimeout": func(s *scenarios.Scenario, _ protocols.RedlockSettings) bool {
		return s.Lock.NodeTimeout != redlock.DefaultNodeTimeout
	},
	"WithRetryDelay": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool {
		return lock.RetryDelay != usual().RetryDelay
	},
	"WithDrift": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool { return lock.Drift != usual().Drift },
	"Drift.Factor": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool {
		return lock.Drift.Factor != usual().Drift.Factor
	},
	"Drift.Constant": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool {
		return lock.Drift.Constant != usual().Drift.Constant
	},
	"Fencing.CounterTTL": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool { return lock.CounterTTL != 0 },
	"Guard.MaxTTL":       func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool { return lock.Guard != nil },
	"Guard.TrustNodeClock": func(_ *scenarios.Scenario, lock protocols.RedlockSettings) bool {
		return lock.Guard != nil && lock.Guard.TrustNodeClock
	},
	"Renewal.Wait":    inAStep(func(s *scenarios.Step) bool { return s.Wait != 0 }),
	"Renewal.Period":  inAStep(func(s *scenarios.Step) bool { return s.Period != 0 }),
	"Renewal.MaxTime": inAStep(func(s *scenarios.Step) bool { return s.MaxTime != 0 }),
	"Renewal.Limit": func(s *scenarios.Scenario, lock protocols.RedlockSettings) bool {
		limited := inAStep(func(step *scenarios.Step) bool {
			renews := step.Kind == scenarios.RenewStep || step.Kind == scenarios.WithLockStep
			return step.Limit != 0 || renews && s.Lock.Renewals != 0
		})
		return limited(s, lock)
	},
}

// usual is what a file has that sets nothing.
func usual() protocols.RedlockSettings {
	return protocols.Of[protocols.RedlockSettings](protocols.Default())
}

func inAStep(is func(*scenarios.Step) bool) func(*scenarios.Scenario, protocols.RedlockSettings) bool {
	return func(s *scenarios.Scenario, _ protocols.RedlockSettings) bool {
		return slices.ContainsFunc(s.Timeline, func(item scenarios.Item) bool {
			return slices.ContainsFunc(item.Do, func(step scenarios.Step) bool { return is(&step) })
		})
	}
}

// settingsUsed are the files that have each setting.
func settingsUsed() map[string][]string {
	used := map[string][]string{}
	for name, isSet := range settings {
		used[name] = nil
		for _, s := range scenarios.Catalogue() {
			file := fileOf(s)
			if protocols.Has[protocols.RedlockSettings](s.Lock) && isSet(s, protocols.Of[protocols.RedlockSettings](s.Lock)) &&
				!slices.Contains(used[name], file) {
				used[name] = append(used[name], file)
			}
		}
	}
	return used
}
