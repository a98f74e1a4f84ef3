package monitor

import (
	"errors"
	"maps"
	"slices"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// told compares what a lock that is not the library's tells of its steps with what it did, and the reason for which it refuses
// a call with what it has told of the nodes: the history is all that a reader has to understand such a lock by.
type told struct {
	run   *Run
	asks  map[asks]*setting
	calls map[int]*said  // by the acquire
	open  map[asking]int // acquires
}

// asks is what a client asks a node for.
type asks struct {
	reaching
	key string
}

// setting is the last command of a client to a node to set a key.
type setting struct {
	sent kernel.True
	// isSet says that it set the key, and isAnswered that the client heard so in time.
	isSet, isAnswered bool
	// open is how many were sent of which the client has not told yet, and isMixed that there were several at once: what it
	// tells may be of any of them.
	open    int
	isMixed bool
}

// said is what an acquire has told of the nodes in its last attempt.
type said struct{ declined, others int }

func watchTold(r *Run) {
	if r.Foreign || r.isLibrary() {
		return
	}
	x := &told{run: r, asks: map[asks]*setting{}, calls: map[int]*said{}, open: map[asking]int{}}
	r.onEvent = append(r.onEvent, x.saw)
	r.onCall = append(r.onCall, func(c *protocols.Call) { x.counts(c, 1) })
	r.onReturn = append(r.onReturn, x.returned)
	r.onCrash = append(r.onCrash, func(client string) {
		maps.DeleteFunc(x.open, func(of asking, _ int) bool { return of.client == client })
	})
	if len(r.World.Replicas) == 0 && r.StepTime == 0 {
		r.onCommand(x.asked, redis.Sent, redis.Answered)
		r.onApplied = append(r.onApplied, x.applied)
	}
}

// counts counts an acquire that begins or ends.
func (x *told) counts(c *protocols.Call, by int) {
	if c.Func != protocols.AcquireCall {
		return
	}
	for _, key := range c.Resources {
		x.open[asking{c.Client, key}] += by
	}
}

func (x *told) asked(at redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Sets || len(a.Keys) != 1 {
		return
	}
	of := asks{reaching{a.Client, a.Server}, a.Keys[0]}
	switch s := x.asks[of]; {
	case at == redis.Sent && s == nil:
		x.asks[of] = &setting{sent: a.Sent, open: 1}
	case at == redis.Sent:
		*s = setting{sent: a.Sent, open: s.open + 1, isMixed: true}
	case at == redis.Answered && s != nil && s.sent == a.Sent:
		_, s.isAnswered = x.run.hears(a)
	}
}

func (x *told) applied(a *redis.Applied) {
	s := x.asks[asks{reaching{a.Client, a.Server}, a.Key}]
	if s != nil && s.sent == a.Sent && !a.Removed() && a.After.Value != a.Before.Value {
		s.isSet = true
	}
}

func (x *told) saw(e *history.Event) {
	if e.Kind != history.Step {
		return
	}
	if e.Detail == "" && protocols.IsSentence(e.Name) {
		x.run.broken(checker.Contract, e.Resource, "%s reports %s, and does not say what it does", e.Process, e.Name)
	}
	switch e.Name {
	case observe.AttemptStarted.String():
		delete(x.calls, e.Op)
	case observe.NodeAnswered.String():
		x.answered(e)
	}
}

// answered judges what a client tells of an answer.
func (x *told) answered(e *history.Event) {
	of := x.calls[e.Op]
	if of == nil {
		of = &said{}
		x.calls[e.Op] = of
	}
	if e.Detail == driver.Declined.Of(driver.OpAcquire) {
		of.declined++
	} else {
		of.others++
	}
	node := slices.IndexFunc(x.run.World.Servers, func(s *redis.Server) bool { return s.Name() == e.Node })
	if node < 0 {
		return
	}
	at := asks{reaching{x.run.World.Client(e.Process), x.run.World.Servers[node]}, e.Resource}
	s := x.asks[at]
	if s == nil {
		return // it only looked
	}
	x.run.Judged[checker.JudgeTold]++
	hasVote := e.Detail == driver.Accepted.Of(driver.OpAcquire)
	switch {
	case s.isMixed || x.open[asking{e.Process, e.Resource}] > 1: // it may be about another command
	case s.isSet && s.isAnswered && !hasVote:
		x.run.broken(checker.Contract, e.Resource, "%s has set its key on %s and heard so in time, and reports %q", e.Process, e.Node, e.Detail)
	case !s.isSet && hasVote:
		x.run.broken(checker.Contract, e.Resource, "%s has set no key on %s, and reports %q", e.Process, e.Node, e.Detail)
	}
	if s.open--; s.open == 0 {
		delete(x.asks, at)
	}
}

// returned compares the reason for which an acquire is refused with what was told of the nodes.
func (x *told) returned(c *protocols.Call, err error) {
	x.counts(c, -1)
	if c.Func != protocols.AcquireCall || err == nil || len(c.Grants) == 0 {
		return
	}
	of := x.calls[c.Grants[0]]
	delete(x.calls, c.Grants[0])
	switch {
	case of == nil || of.declined+of.others == 0:
	case errors.Is(err, redlock.ErrTaken) && of.declined == 0:
		x.run.broken(checker.Contract, c.Resources[0], "%s is told that the lock is taken, and no node has said so", c.Client)
	case errors.Is(err, redlock.ErrNoQuorum) && of.declined > 0 && of.others == 0:
		x.run.broken(checker.Contract, c.Resources[0], "%s is told that it has no quorum, and all %d nodes said that the lock is taken", c.Client, of.declined)
	}
}
