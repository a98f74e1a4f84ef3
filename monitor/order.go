package monitor

import (
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// order judges in which order a message carries commands about one key: acquires and extends go in the order in which they were
// asked for, whatever shares a script with what. Releases may overtake them.
type order struct {
	run  *Run
	asks byValue[ordered]
	// message is the last one of which was told, and carries what it asks for so far.
	message int
	carries []askedFor
}

// ordered is when the library began to ask for a lock, or to extend it.
type ordered struct {
	name  string // of the resources
	began [redis.Deletes + 1]kernel.True
	// times is how often it has begun: to which of several rounds a command belongs is not known.
	times [redis.Deletes + 1]int
}

func (a *ordered) begins(i redis.Intent, now kernel.True) {
	a.began[i] = now
	a.times[i]++
}

type askedFor struct {
	key   string
	began kernel.True
}

func watchOrder(r *Run) {
	if !r.isLibrary() || r.StepTime > 0 {
		return
	}
	x := &order{run: r, asks: byValue[ordered]{values: r.values}}
	r.onStep(x.stepped, observe.AttemptStarted, observe.TokenRaised, observe.ExtendStarted)
	r.onCommand(x.passes, redis.Sent)
}

func (x *order) stepped(_ string, e *observe.Event) {
	now := x.run.World.Kernel.Now()
	switch of := x.asks.of(e.Value); {
	case e.Step == observe.AttemptStarted:
		of = x.asks.add(e.Value)
		of.name = e.Resource
		of.begins(redis.Sets, now)
	case of == nil:
	case e.Step == observe.TokenRaised:
		of.begins(redis.Sets, now)
	case e.Step == observe.ExtendStarted:
		of.begins(redis.Extends, now)
	}
}

func (x *order) passes(_ redis.Passage, a *redis.Asked) {
	if a.Together == 1 || a.Intent != redis.Sets && a.Intent != redis.Extends {
		return
	}
	if a.Message != x.message {
		x.message, x.carries = a.Message, x.carries[:0]
	}
	x.takes(a, a.Value)
	for _, value := range a.More {
		x.takes(a, value)
	}
}

// takes judges one of the values that a command carries.
func (x *order) takes(a *redis.Asked, value string) {
	of := x.asks.of(value)
	if of == nil || of.times[a.Intent] != 1 {
		return
	}
	x.run.Judged[checker.JudgeOrder]++
	began := of.began[a.Intent]
	for key := range strings.SplitSeq(of.name, separator) {
		if i := slices.IndexFunc(x.carries, func(o askedFor) bool { return o.key == key && o.began > began }); i >= 0 {
			x.run.broken(checker.Conduct, key, "%s asks %s first for what it began %v later: the commands in a message about one key must go in their order",
				a.Client.Name(), a.Server.Name(), time.Duration(x.carries[i].began-began).Round(time.Microsecond))
			return
		}
		x.carries = append(x.carries, askedFor{key, began})
	}
}
