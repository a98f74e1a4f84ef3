package shrink

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// mostMoments bounds how many of the moments at which an item came to pass are tried, and starts is at how many times, as far
// from each other, a program starts once that is repeated: its only pass may be lucky where the like of it was not.
const mostMoments, starts = 12, 32

// usualWait is how long a lock step waits if a file does not say.
const usualWait = time.Minute

// observed places what happened only once where the run shows it: a program that is repeated, or done by several goroutines,
// is done once, at one of the times at which its client requested the lock, the latest first; and a fault that waits for the
// nth event comes at the time at which it was injected. Of one that comes every time, once may do.
func observed(x *shrinker) {
	for i := range x.now.Timeline {
		item := &x.now.Timeline[i]
		waits := item.When.After != nil && (item.When.After.Nth > 1 || item.When.Every)
		if !waits && (item.Fault != nil || max(item.Repeat, 1)*max(item.Goroutines, 1) == 1) {
			continue
		}
		for _, at := range moved(item, x.history) {
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
		for part := time.Duration(0); part < starts && x.now.Timeline[i].Repeat > 1 && x.now.Timeline[i].When.After == nil; part++ {
			x.try(func(s *scenarios.Scenario) { s.Timeline[i].Repeat, s.Timeline[i].When.At = 1, s.Duration/starts*part })
		}
		if x.now.Timeline[i].When.Every {
			x.try(func(s *scenarios.Scenario) { s.Timeline[i].When.Every = false })
		}
	}
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

// substitutes are simpler steps that may do as well, the simplest first. What is a series of operations becomes one of them.
var substitutes = map[scenarios.StepKind][]scenarios.StepKind{
	scenarios.WithLockStep: {scenarios.LockStep},
	scenarios.WithAllStep:  {scenarios.LockStep},
	scenarios.UpdateStep:   {scenarios.ReadStep, scenarios.WriteStep},
}

// plainer does with a simpler step what one that is a series of operations does, with a simpler fault what one of several
// parts does, and with a later start what a sleep does.
func plainer(x *shrinker) {
	for i := range x.now.Timeline {
		if _, is := x.now.Timeline[i].Fault.(faults.Simplified); is {
			x.try(func(s *scenarios.Scenario) {
				item := &s.Timeline[i]
				item.Fault, item.Kind = item.Fault.(faults.Simplified).Simpler()
			})
		}
		for j := range x.now.Timeline[i].Do {
			for _, kind := range substitutes[x.now.Timeline[i].Do[j].Kind] {
				if x.try(func(s *scenarios.Scenario) {
					step := &s.Timeline[i].Do[j]
					*step = scenarios.Step{Kind: kind, Resource: step.Resource}
					if kind == scenarios.LockStep {
						step.For = usualWait
					}
				}) {
					break
				}
			}
		}
		if do := x.now.Timeline[i].Do; len(do) > 1 && do[0].Kind == scenarios.SleepStep {
			x.try(func(s *scenarios.Scenario) {
				item := &s.Timeline[i]
				if item.Do = item.Do[1:]; item.When.After != nil {
					item.When.Plus += do[0].For
				} else {
					item.When.At += do[0].For
				}
			})
		}
	}
}

// order has the timeline in the order of its times. What waits for an event stays behind what it stands behind.
func order(x *shrinker) {
	for i := range x.now.Timeline {
		for j := i; j > 0 && isLater(&x.now.Timeline[j-1], &x.now.Timeline[j]); j-- {
			if !x.cut(func(root *yaml.Node) {
				items := place{"timeline"}.in(root).Content
				items[j-1], items[j] = items[j], items[j-1]
			}) {
				break
			}
		}
	}
}
