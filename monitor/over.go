package monitor

import (
	"context"
	"errors"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// overs judges calls about leases that are over: by the client's clock, or because their contexts told so.
type overs struct {
	run  *Run
	open map[*protocols.Call]overCall
	// extended is when the library last reported to have extended each lease, by its value and the client's clock: a client
	// that is paused then returns later.
	extended map[string]time.Time
}

// overCall is an extend or a release that has not returned.
type overCall struct {
	at     time.Time // when the call began, by the client's clock
	isOver bool      // then
	until  time.Time
}

func watchOvers(r *Run) {
	if !r.isLibrary() {
		return
	}
	x := &overs{run: r, open: map[*protocols.Call]overCall{}, extended: map[string]time.Time{}}
	r.onCommand(x.passes, redis.Sent)
	r.onStep(func(client string, e *observe.Event) { x.extended[e.Value] = r.clock(client) }, observe.Extended)
	r.onCall = append(r.onCall, x.called)
	r.onReturn = append(r.onReturn, x.returned)
}

func (x *overs) called(c *protocols.Call) {
	if c.Lease != nil && (c.Func == protocols.ExtendCall || c.Func == protocols.ReleaseCall) {
		until := c.Lease.Until()
		isTold := context.Cause(c.Lease.Context()) == redlock.ErrLost
		now := x.run.clock(c.Client)
		x.open[c] = overCall{now, isTold || !now.Before(until), until}
	}
}

// passes takes a command, which may be that of an extend that was called too late to ask anybody.
func (x *overs) passes(_ redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Extends {
		return
	}
	isOver := false
	for c, began := range x.open {
		lease, voted := c.Lease.(protocols.Voted)
		if c.Func != protocols.ExtendCall || !voted || c.Client != a.Client.Name() || !a.Carries(lease.Value()) {
			continue
		}
		isBefore := a.Deadline.Before(began.at.Add(x.run.Lock.NodeTimeout)) // of a round that began earlier
		if isOver = began.isOver && !c.Renewal && !isBefore; !isOver {
			return // it may be that one's
		}
	}
	if isOver {
		x.run.broken(checker.Contract, x.run.about(a.Keys), "%s asks %s to extend a lease that was over when the extend was called", a.Client.Name(), a.Server.Name())
	}
}

func (x *overs) returned(c *protocols.Call, err error) {
	began, judged := x.open[c]
	if delete(x.open, c); !judged {
		return
	}
	succeeded := x.run.clock(c.Client)
	if lease, voted := c.Lease.(protocols.Voted); voted && !x.extended[lease.Value()].Before(began.at) {
		succeeded = x.extended[lease.Value()]
	}
	if began.isOver {
		x.run.Judged[checker.JudgeOvers]++
	}
	isKnown := errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased)
	switch {
	case c.Func == protocols.ReleaseCall && began.isOver && !isKnown:
		x.run.broken(checker.Contract, c.Resources[0], "%s's release of a lease that was over returns %q, and not that it was lost", c.Client, text(err))
	case c.Func == protocols.ExtendCall && began.isOver && err == nil:
		x.run.broken(checker.Contract, c.Resources[0], "%s extended a lease that was over", c.Client)
	case c.Func == protocols.ExtendCall && x.run.StepTime == 0 && err == nil && !succeeded.Before(began.until):
		// Where code takes time, the lease may have ended after the votes were counted.
		x.run.broken(checker.Contract, c.Resources[0], "%s's extend succeeded %v after its lease was over", c.Client, succeeded.Sub(began.until))
	}
}
