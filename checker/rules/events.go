package rules

import (
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
	if len(kinds) == 0 {
		trace.On(r.World.Events, tell)
	}
	for _, k := range kinds {
		if r.events == nil {
			r.events = map[history.Kind][]func(*history.Event){}
		}
		r.events[k] = append(r.events[k], tell)
	}
}

func (r *Run) recorded(e *history.Event) {
	for _, tell := range r.events[e.Kind] {
		tell(e)
	}
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
func (r *Run) onCommand(tell func(redis.Passage, *redis.Asked), on ...redis.Passage) {
	if len(on) == 0 {
		on = []redis.Passage{redis.Sent, redis.Arrived, redis.Answered, redis.Broken}
	}
	for _, at := range on {
		r.commands[at] = append(r.commands[at], tell)
	}
}

func (r *Run) onVague(tell func(redis.Passage, *redis.Asked)) {
	trace.On(r.World.Events, func(a *redis.Asked) {
		if a.Intent == redis.NoIntent {
			tell(a.At, a)
		}
	})
}

func (r *Run) commanded(a *redis.Asked) {
	if a.Intent == redis.NoIntent {
		return
	}
	for _, tell := range r.commands[a.At] {
		tell(a.At, a)
	}
}

// onCall and onReturn have a rule told that a call of a client's lock begins, and what it returned, before anything else
// happens in the client.
func (r *Run) onCall(tell func(*protocols.Call)) {
	trace.On(r.World.Events, func(c protocols.Called) { tell(c.Call) })
}

func (r *Run) onReturn(tell func(*protocols.Call, error)) {
	trace.On(r.World.Events, func(c protocols.Returned) { tell(c.Call, c.Err) })
}

// onStep has a rule told of these steps of the clients' libraries, or of all if none is named. What it is given is good until
// it returns.
func (r *Run) onStep(tell func(client string, e *observe.Event), steps ...observe.Step) {
	if len(steps) == 0 {
		for i := range r.steps {
			r.steps[i] = append(r.steps[i], tell)
		}
	}
	for _, s := range steps {
		r.steps[s] = append(r.steps[s], tell)
	}
}

// bySteps are those who are told of each step. The last of them is told of what is no step at all, which a library may report
// that is broken.
type bySteps [observe.Yielding + 2][]func(client string, e *observe.Event)

func (r *Run) stepped(e protocols.Stepped) {
	for _, tell := range r.steps[min(int(e.Step), len(r.steps)-1)] {
		tell(e.Client, e.Event)
	}
}
