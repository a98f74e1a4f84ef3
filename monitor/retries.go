package monitor

import (
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// retries judges when a call that was refused asks again: when its delay is over, and those nodes have answered the release
// that had answered the attempt. Nodes that were silent are not waited for. It may not ask earlier, which the specification
// says, and not later. Only code that takes no time is judged, and calls that nothing else wakes.
type retries struct {
	run  *Run
	last byValue[retry] // by call, which is the value of its first attempt
}

// retry is the last attempt of a call, which was refused, or may be.
type retry struct {
	value    string      // of the attempt
	answered uint64      // the nodes that have answered in time
	told     kernel.True // when the call told that it will ask again; -1 if it has not
	due      time.Time   // when it may, by its client's clock
}

func watchRetries(r *Run) {
	if !r.isLibrary() || r.StepTime > 0 || r.Lock.Clock != kernel.Monotonic || protocols.Of[protocols.RedlockSettings](r.Lock).WakeUp > 0 {
		return
	}
	x := &retries{run: r, last: byValue[retry]{values: r.values}}
	r.onStep(x.stepped, observe.AttemptStarted, observe.NodeAnswered, observe.Retrying, observe.Queued, observe.Yielding, observe.Granted, observe.GaveUp)
}

func (x *retries) stepped(client string, e *observe.Event) {
	this := x.last.of(e.Call)
	switch {
	case e.Step == observe.AttemptStarted:
		x.asks(client, e)
	case this == nil || this.value != e.Value: // it is about an attempt before that
	case e.Step == observe.NodeAnswered:
		x.answers(client, this, e)
	case e.Step == observe.Retrying:
		this.told, this.due = x.run.World.Kernel.Now(), x.run.clock(client).Add(e.Delay)
	case e.Step == observe.Queued, e.Step == observe.Yielding, e.Step == observe.Granted, e.Step == observe.GaveUp:
		x.last.forget(e.Call) // it waits for something else, or has ended
	}
}

// answers takes an answer to an attempt, or to its release.
func (x *retries) answers(client string, this *retry, e *observe.Event) {
	node := uint64(0)
	for i, s := range x.run.World.Servers {
		if s.Name() == e.Node.Node {
			node = 1 << i
		}
	}
	switch {
	case e.Op == driver.OpAcquire && !e.Late && e.Node.Outcome != driver.TimedOut:
		this.answered |= node
	case e.Op == driver.OpRelease && this.answered&node != 0 && this.told >= 0:
		if now := x.run.clock(client); now.After(this.due) {
			this.due = now
		}
	}
}

// asks judges the next attempt of a call.
func (x *retries) asks(client string, e *observe.Event) {
	if before := x.last.of(e.Call); before != nil && before.told >= 0 && x.run.pauses.hasRun(x.run.World.Client(client), before.told) {
		x.run.Judged[checker.JudgeRetries]++
		if late := x.run.clock(client).Sub(before.due); late > rounding {
			x.run.broken(checker.Conduct, resourcesOf(e.Resource)[0], "%s asks for the lock on %s again %v after it could have, in attempt %d", client, e.Resource, late, e.Attempt)
		}
	}
	*x.last.add(e.Call) = retry{value: e.Value, told: -1}
}
