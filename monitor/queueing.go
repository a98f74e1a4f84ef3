package monitor

import (
	"math"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// queueing judges how long a command waits before it is sent: until fewer commands than a limit are unanswered on its node, and
// no longer; those that were sent a quarter of the node timeout ago count no more. When it could have been sent is known from
// the others of its round, which go to all nodes at once.
type queueing struct {
	run      *Run
	limit    int
	patience time.Duration // after which an unanswered command holds up no others
	rounds   byValue[[redis.Deletes + 1]roundSent]
	ways     []*unanswered // by the numbers of the links
}

// roundSent is a round of commands whose first one was sent at a moment, and the nodes that were asked.
type roundSent struct {
	isBegun bool
	began   kernel.True
	byClock kernel.Mono // the same, by the client's clock
	asked   uint64
	// started is when the library reported that it starts the round, if it did.
	started kernel.True
}

// unanswered is what a node has not answered to a client, and when that last was so much that others had to wait.
type unanswered struct {
	client *kernel.Process
	open   []openCommand // in the order in which they were sent
	full   kernel.Mono
	// failed is when the last answer came that was a failure, or when it was last clear that none comes: what is sent at that
	// moment may be the same once more.
	failed kernel.True
}

// wasFull brings full up to now: that many commands which are not older than so much hold up others.
func (u *unanswered) wasFull(now kernel.Mono, limit int, patience time.Duration) {
	if held := len(u.open) - limit; held >= 0 {
		u.full = max(u.full, min(now, u.open[held].since+kernel.Mono(patience)))
	}
}

type openCommand struct {
	sent     kernel.True
	since    kernel.Mono
	deadline time.Time
	// vague says that it may be answered, or is older: its answer came in part, or it was sent before.
	vague bool
}

// defaultBatching is how many commands may be unanswered, where nothing is set.
const defaultBatching = 4

func watchQueueing(r *Run) {
	// Code that takes time sends to one node after the other, a lock of one's own may have another limit, and with the restart
	// guard nodes are asked for more than locks.
	if !r.isLibrary() || r.StepTime > 0 || isGuarded(r) || len(r.World.Replicas) > 0 {
		return
	}
	x := &queueing{run: r, limit: protocols.Of[protocols.RedlockSettings](r.Lock).Batching, patience: r.Lock.NodeTimeout / 4,
		rounds: byValue[[redis.Deletes + 1]roundSent]{values: r.values}}
	if x.limit == 0 {
		x.limit = defaultBatching
	}
	r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
	r.onStep(x.stepped, observe.AttemptStarted, observe.ExtendStarted, observe.TokenRaised, observe.Denied, observe.ReleaseStarted)
}

// stepped takes a step of a library: with some, a round begins.
func (x *queueing) stepped(_ string, e *observe.Event) {
	switch of := x.rounds.of(e.Value); {
	case e.Step == observe.AttemptStarted:
		x.rounds.add(e.Value)
	case of == nil:
	case e.Step == observe.ExtendStarted:
		of[redis.Extends] = roundSent{}
	case e.Step == observe.TokenRaised:
		of[redis.Sets] = roundSent{}
	case (e.Step == observe.Denied || e.Step == observe.ReleaseStarted) && of[redis.Deletes].started == 0:
		of[redis.Deletes].started = x.run.World.Kernel.Now()
	}
}

// way is what is unanswered on the way of a command. A client that was started again begins anew.
func (x *queueing) way(a *redis.Asked) *unanswered {
	for len(x.ways) <= a.Link.Number() {
		x.ways = append(x.ways, nil)
	}
	way := &x.ways[a.Link.Number()]
	if *way == nil || (*way).client != a.Client {
		*way = &unanswered{client: a.Client, full: math.MinInt64, failed: -1}
	}
	return *way
}

func (x *queueing) passes(at redis.Passage, a *redis.Asked) {
	way := x.way(a)
	way.wasFull(a.Client.Mono(), x.limit, x.patience)
	if at != redis.Sent {
		is := func(o openCommand) bool { return o.sent == a.Sent && o.deadline.Equal(a.Deadline) }
		if a.Answer == driver.Failed || a.Answer == driver.Unanswered && a.Settled {
			way.failed = x.run.World.Kernel.Now()
		}
		if a.Settled {
			for range x.commands(a) {
				if i := slices.IndexFunc(way.open, is); i >= 0 {
					way.open = slices.Delete(way.open, i, i+1)
				}
			}
			return
		}
		for i := range way.open {
			way.open[i].vague = way.open[i].vague || is(way.open[i])
		}
		return
	}
	isFirst, hasWaited := false, false
	now := a.Client.ProgramClock().Now()
	way.open = slices.DeleteFunc(way.open, func(o openCommand) bool { return !o.deadline.After(now) })
	// A client finds out what a node has that forbids a command, and what it sends meanwhile comes in its own time.
	isAgain := way.failed == x.run.World.Kernel.Now() || a.Server.Forbidden() != ""
	sends := func(value string) {
		rounds := x.rounds.of(value)
		if rounds == nil {
			return
		}
		of := &rounds[a.Intent]
		hasWaited = hasWaited || of.started != 0 && a.Sent > of.started // it is given up with its round, before its deadline
		switch {
		case isAgain: // or the first to this node; in either case it is judged no more
			of.asked |= x.bit(a.Server)
		default:
			isFirst = x.sends(a, way, of)
		}
	}
	sends(a.Value)
	for _, value := range a.More {
		sends(value)
	}
	for range x.commands(a) {
		way.open = append(way.open, openCommand{a.Sent, a.Client.Mono(), a.Deadline, !isFirst || hasWaited})
	}
}

// commands is how many of the library's commands one is on the network: a script can be for several values.
func (x *queueing) commands(a *redis.Asked) (n int) {
	for _, value := range a.More {
		if x.rounds.of(value) != nil {
			n++
		}
	}
	return max(1, n)
}

// bit stands for a node in a set.
func (x *queueing) bit(s *redis.Server) uint64 { return 1 << slices.Index(x.run.World.Servers, s) }

// sends judges a command that is the first of its round to its node, and says whether it is.
func (x *queueing) sends(a *redis.Asked, way *unanswered, round *roundSent) (isFirst bool) {
	node := x.bit(a.Server)
	if !round.isBegun {
		round.isBegun, round.began, round.byClock = true, a.Sent, a.Client.Mono()
	}
	isFirst = round.asked&node == 0
	round.asked |= node
	// After a pause, answers and timeouts come in any order, also of what was sent before.
	settled := round.began.Add(-x.run.Lock.NodeTimeout)
	if !isFirst || x.run.clients.number(a.Client.Name()) > 0 || !x.run.pauses.hasRun(a.Client, settled) {
		return isFirst
	}
	x.run.Judged[checker.JudgeQueueing]++
	if late := time.Duration(a.Client.Mono() - max(round.byClock, way.full)); late > rounding {
		x.run.broken(checker.Conduct, x.run.about(a.Keys), "%s sends %s a command %v after the first of its round, although fewer than %d commands that could hold it up were unanswered for %v",
			a.Client.Name(), a.Server.Name(), a.Sent.Sub(round.began), x.limit, late)
	}
	held := 0
	for _, o := range way.open {
		if !o.vague && o.sent != a.Sent && time.Duration(a.Client.Mono()-o.since) < x.patience {
			held++
		}
	}
	if held >= x.limit {
		x.run.broken(checker.Conduct, x.run.about(a.Keys), "%s sends %s a command while %d are unanswered, and others wait from %d on", a.Client.Name(),
			a.Server.Name(), held, x.limit)
	}
	return true
}
