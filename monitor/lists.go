package monitor

import (
	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

// onCommand has a monitor told of the commands of clients on these parts of their way, or on all of it if none is named. What
// it is given is good until it returns. There are so many commands that telling those who do not want to know would take long.
func (r *Run) onCommand(tell func(redis.Passage, *redis.Asked), on ...redis.Passage) {
	if len(on) == 0 {
		on = []redis.Passage{redis.Sent, redis.Arrived, redis.Answered, redis.Broken}
	}
	for _, at := range on {
		r.commands[at] = append(r.commands[at], tell)
	}
}

// onStep has a monitor told of these steps of the clients' libraries, or of all if none is named. What it is given is good
// until it returns.
func (r *Run) onStep(tell func(client string, e *observe.Event), steps ...observe.Step) {
	r.steps.add(tell, steps)
}

// onWentOn is onStep for when the client goes on after the step.
func (r *Run) onWentOn(tell func(client string, e *observe.Event), steps ...observe.Step) {
	r.wentOn.add(tell, steps)
}

// bySteps are those who are told of each step. The last of them is told of what is no step at all, which a library may report
// that is broken.
type bySteps [observe.Yielding + 2][]func(client string, e *observe.Event)

func (b *bySteps) add(tell func(client string, e *observe.Event), steps []observe.Step) {
	if len(steps) == 0 {
		for i := range b {
			b[i] = append(b[i], tell)
		}
	}
	for _, s := range steps {
		b[s] = append(b[s], tell)
	}
}

func (b *bySteps) of(s observe.Step) []func(client string, e *observe.Event) {
	return b[min(int(s), len(b)-1)]
}
