package shrink

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// usualWait is how long a lock step waits if a file does not say.
const usualWait = time.Minute

// substitutes are simpler steps that may do as well, the simplest first. What is a series of operations becomes one of them.
var substitutes = map[scenarios.StepKind][]scenarios.StepKind{
	scenarios.WithLockStep: {scenarios.LockStep},
	scenarios.WithAllStep:  {scenarios.LockStep},
	scenarios.UpdateStep:   {scenarios.ReadStep, scenarios.WriteStep},
}

// plainer does with a simpler step what one that is a series of operations does, and with a simpler fault what one of several
// parts does.
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
	}
}
