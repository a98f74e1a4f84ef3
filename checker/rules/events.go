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

// on has a monitor told of the events of a type that are about something.
func on[E any](r *Run, is func(E) bool, tell func(E)) {
	trace.On(r.World.Events, func(e E) {
		if is(e) {
			tell(e)
		}
	})
}

// onEvent has a monitor told of every event of the history.
func (r *Run) onEvent(tell func(*history.Event)) { trace.On(r.World.Events, tell) }

// onCrash has a monitor told of a client that has crashed: none of its calls returns any more. Started again it has nothing of
// before.
func (r *Run) onCrash(tell func(client string)) {
	trace.On(r.World.Events, func(c sim.Crashed) { tell(c.Name()) })
}

// onChange has a monitor told whenever a process, a clock, a link or a node is no longer as it was.
func (r *Run) onChange(tell func()) {
	trace.On(r.World.Events, func(kernel.StateChanged) { tell() })
	trace.On(r.World.Events, func(kernel.ClockMoved) { tell() })
	trace.On(r.World.Events, func(network.ObstaclesChanged) { tell() })
	trace.On(r.World.Events, func(redis.ServerChanged) { tell() })
}

// onRequest has a monitor told of every request that is sent to a node or the storage, and onHeard of every message that has
// ended so that its client hears of it.
func (r *Run) onRequest(tell func(network.Sent)) {
	on(r, func(m network.Sent) bool { return m.Kind == network.RequestMessage }, tell)
}

func (r *Run) onHeard(tell func(network.Ended)) {
	on(r, func(m network.Ended) bool {
		return m.Fate == network.Arrived && (m.Kind == network.ReplyMessage || m.Kind == network.RefusalMessage)
	}, tell)
}

// onApplied has a monitor told of every change that a request makes to a key of a node, at that very step.
func (r *Run) onApplied(tell func(*redis.Applied)) { trace.On(r.World.Events, tell) }

// onVague has a monitor told of the commands of which nothing can be told.
func (r *Run) onVague(tell func(redis.Passage, *redis.Asked)) {
	on(r, func(a *redis.Asked) bool { return a.Intent == redis.NoIntent }, func(a *redis.Asked) { tell(a.At, a) })
}

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

// commanded tells monitors of a command.
func (r *Run) commanded(a *redis.Asked) {
	if a.Intent == redis.NoIntent {
		return
	}
	for _, tell := range r.commands[a.At] {
		tell(a.At, a)
	}
}

// onCall and onReturn have a monitor told that a call of a client's lock begins, and what it returned, before anything else
// happens in the client.
func (r *Run) onCall(tell func(*protocols.Call)) {
	trace.On(r.World.Events, func(c protocols.Called) { tell(c.Call) })
}

func (r *Run) onReturn(tell func(*protocols.Call, error)) {
	trace.On(r.World.Events, func(c protocols.Returned) { tell(c.Call, c.Err) })
}

// onWant has a monitor told that a call for a permit of a semaphore begins, or for all, and onGet what it returned.
func (r *Run) onWant(tell func(*protocols.PermitCall)) {
	trace.On(r.World.Events, func(c protocols.PermitCalled) { tell(c.PermitCall) })
}

func (r *Run) onGet(tell func(*protocols.PermitCall, error)) {
	trace.On(r.World.Events, func(c protocols.PermitReturned) { tell(c.PermitCall, c.Err) })
}

// onWorked has a monitor told of what a call returned that has renewed a lease while work was done under it.
func (r *Run) onWorked(tell func(*protocols.Work, error)) {
	trace.On(r.World.Events, func(w protocols.WorkReturned) { tell(w.Work, w.Err) })
}

// onStep has a monitor told of these steps of the clients' libraries, or of all if none is named. What it is given is good
// until it returns.
func (r *Run) onStep(tell func(client string, e *observe.Event), steps ...observe.Step) {
	r.steps.add(tell, steps)
}

// stepped tells monitors of a step.
func (r *Run) stepped(e protocols.Stepped) {
	for _, tell := range r.steps.of(e.Step) {
		tell(e.Client, e.Event)
	}
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
