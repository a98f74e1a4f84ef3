package shrink

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// mostMoments bounds how many of the moments at which an item came to pass are tried.
const mostMoments = 12

// observed places what happened only once where the run shows it: a program that is repeated, or done by several goroutines,
// is done once, at one of the times at which its client requested the lock, the latest first; and a fault that waits for the
// nth event comes at the time at which it was injected.
func observed(x *shrinker) {
	for i := range x.now.Timeline {
		item := &x.now.Timeline[i]
		waits := item.When.After != nil && (item.When.After.Nth > 1 || item.When.Every)
		if item.Fault == nil && max(item.Repeat, 1)*max(item.Goroutines, 1) == 1 || item.Fault != nil && !waits {
			continue
		}
		for _, at := range moved(item, x.history()) {
			once := func(s *scenarios.Scenario) {
				s.Timeline[i].When = faults.Trigger{At: at}
				if item := &s.Timeline[i]; item.Fault == nil {
					item.Repeat, item.Goroutines, item.Do = 1, 0, withoutSleep(item.Do)
				}
			}
			// The only pass draws other latencies than the nth one: it may need more time than a short deadline leaves.
			if x.try(once) || x.try(func(s *scenarios.Scenario) { once(s); patient(&s.Timeline[i]) }) {
				break
			}
		}
	}
}

// history is that of a run of the simplest scenario so far; nil if nobody can tell, or no run is left.
func (x *shrinker) history() history.History {
	if x.watch == nil || x.isOver() {
		return nil
	}
	x.runs++
	h, err := x.watch(x.now)
	if err != nil {
		x.stopped = err
	}
	return h
}

// moved are the times at which an item came to pass, the latest first.
func moved(item *scenarios.Item, h history.History) []time.Duration {
	var at []time.Duration
	for i := range h {
		e := &h[i]
		switch {
		case item.Fault == nil && e.Kind == history.Call && e.Func == history.Acquire && e.Process == item.Client:
			at = append(at, time.Duration(e.Time))
		case item.Fault != nil && e.Kind == history.Fault && e.Name == item.Kind:
			// Whoever waits for an event comes after it: the next millisecond is a simpler number than the same instant.
			at = append(at, time.Duration(e.Time), time.Duration(e.Time).Truncate(time.Millisecond)+time.Millisecond)
		}
	}
	slices.Reverse(at)
	at = slices.Compact(at)
	return at[:min(len(at), mostMoments)]
}

// patient has an item acquire the lock as usual, however long it takes.
func patient(item *scenarios.Item) {
	for i := range item.Do {
		switch step := &item.Do[i]; step.Kind {
		case scenarios.LockStep, scenarios.TryLockStep:
			*step = scenarios.Step{Kind: scenarios.LockStep, Resource: step.Resource, For: usualWait}
		}
	}
}

// withoutSleep is a program without the sleeps that it begins with.
func withoutSleep(do []scenarios.Step) []scenarios.Step {
	for len(do) > 1 && do[0].Kind == scenarios.SleepStep {
		do = do[1:]
	}
	return do
}

// asleep has a program start later that begins with a sleep.
func asleep(x *shrinker) {
	for i := range x.now.Timeline {
		if do := x.now.Timeline[i].Do; len(do) > 1 && do[0].Kind == scenarios.SleepStep {
			x.try(func(s *scenarios.Scenario) {
				item := &s.Timeline[i]
				if item.When.After != nil {
					item.When.Plus += do[0].For
				} else {
					item.When.At += do[0].For
				}
				item.Do = item.Do[1:]
			})
		}
	}
}
