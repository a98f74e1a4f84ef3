package rules

import (
	"slices"

	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// onEvent has a rule told of the events of the history of some kinds, or of all if none is named.
func (r *Run) onEvent(tell func(*history.Event), kinds ...history.Kind) {
	trace.On(r.World.Events, func(e *history.Event) {
		if len(kinds) == 0 || slices.Contains(kinds, e.Kind) {
			tell(e)
		}
	})
}

// onCrash has a rule told of a client that has crashed: none of its calls returns any more. Started again it has nothing of
// before.
func (r *Run) onCrash(tell func(client string)) {
	trace.On(r.World.Events, func(c sim.Crashed) { tell(c.Name()) })
}

// onChange has a rule told whenever a process, a clock, a link or a node is no longer as it was.
func (r *Run) onChange(tell func()) {
	trace.On(r.World.Events, func(kernel.StateChanged) { tell() })
	trace.On(r.World.Events, func(kernel.ClockMoved) { tell() })
	trace.On(r.World.Events, func(network.ObstaclesChanged) { tell() })
	trace.On(r.World.Events, func(redis.ServerChanged) { tell() })
}

// onApplied has a rule told of every change that a request makes to a key of a node, at that very step.
func (r *Run) onApplied(tell func(*redis.Applied)) { trace.On(r.World.Events, tell) }

// onRequest has a rule told of every request that is sent to a node or the storage, and onHeard of every message that has ended
// so that its client hears of it.
func (r *Run) onRequest(tell func(network.Sent)) {
	trace.On(r.World.Events, func(m network.Sent) {
		if m.Kind == network.RequestMessage {
			tell(m)
		}
	})
}

func (r *Run) onHeard(tell func(network.Ended)) {
	trace.On(r.World.Events, func(m network.Ended) {
		if m.Fate == network.Arrived && (m.Kind == network.ReplyMessage || m.Kind == network.RefusalMessage) {
			tell(m)
		}
	})
}

// onCommand has a rule told of the commands of clients on these parts of their way, or on all of it if none is named, and
// onVague of those of which nothing can be told. What it is given is good until it returns.
func (r *Run) onCommand(tell func(*redis.Asked), on ...redis.Passage) {
	trace.On(r.World.Events, func(a *redis.Asked) {
		if a.Intent != redis.NoIntent && (len(on) == 0 || slices.Contains(on, a.At)) {
			tell(a)
		}
	})
}

func (r *Run) onVague(tell func(*redis.Asked)) {
	trace.On(r.World.Events, func(a *redis.Asked) {
		if a.Intent == redis.NoIntent {
			tell(a)
		}
	})
}

// onStep has a rule told of these steps of the clients' libraries, or of all if none is named. What it is given is good until
// it returns.
func (r *Run) onStep(tell func(client string, e *observe.Event), steps ...observe.Step) {
	trace.On(r.World.Events, func(e protocols.Stepped) {
		if len(steps) == 0 || slices.Contains(steps, e.Step) {
			tell(e.Client, e.Event)
		}
	})
}
