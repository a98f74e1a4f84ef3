package rules

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// refusals judges the calls that must be refused: of a closed client, in a context that has ended, or about a lease that was
// released. They get the documented error, and nothing comes of them: no time passes, nothing is drawn,
// reported or sent, and the lease stays as it is.
type refusals struct {
	run      *Run
	open     []*refusal
	madeBy   map[protocols.Lease]int  // the number of the client whose lease it is; see clients
	released map[protocols.Lease]bool // of which a release was called
	ttls     map[protocols.Lease]time.Duration
	asks     map[*protocols.Call]int // acquires that have not returned, with the numbers of their clients
}

// refusal is such a call that has not returned.
type refusal struct {
	*protocols.Call
	what string // is called, and why it must be refused
	// isRight says whether an error is one that is documented for it.
	isRight func(error) bool
	wants   string // and which that is
	// isSilent says that nothing may come of the call. A release in a context that has ended happens all the same.
	isSilent bool
	client   *kernel.Process
	began    kernel.True
	drawn    int
	// until is the end of its lease, and isHeld says that the lease has not ended.
	until  time.Time
	isHeld bool
	did    string // the first of what should not have come of it
}

func watchRefusals(r *Run) {
	if r.Foreign || !r.Lock.Capabilities().Closes {
		return
	}
	x := &refusals{run: r, madeBy: map[protocols.Lease]int{}, released: map[protocols.Lease]bool{}, ttls: map[protocols.Lease]time.Duration{}, asks: map[*protocols.Call]int{}}
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onCommand(x.sends, redis.Sent)
	r.onStep(x.reports)
}

// isClosed says whether the client that a call is made of was closed before: the one that granted its lease, that the call for
// a permit was made of, or else the newest.
func (x *refusals) isClosed(c *protocols.Call) bool {
	if of, known := x.madeBy[c.Lease]; known {
		return x.run.clients.isClosed(c.Client, of)
	}
	return x.run.clients.isClosed(c.Client, x.run.clients.numberOf(c))
}

// called notes a call that has the right arguments and must be refused nevertheless.
func (x *refusals) called(c *protocols.Call) {
	ended, ofLease := error(nil), c.Lease != nil && c.Context == c.Lease.Context()
	if c.Context != nil && !ofLease {
		ended = c.Context.Err()
	}
	if c.Func == protocols.AcquireCall {
		x.asks[c] = x.run.clients.numberOf(c)
	}
	switch {
	case c.Renewal: // of which it is told once the library has begun it
	case c.Func == protocols.CloseCall, c.Func == protocols.NewClientCall:
	case c.Func == protocols.ReleaseCall:
		x.releases(c, ended)
		x.released[c.Lease] = true
	case x.isClosed(c) && (c.Func != protocols.PrepareCall || isGuarded(x.run)):
		x.opens(c, callNames[c.Func]+" of a closed client", "ErrClosed", func(err error) bool { return errors.Is(err, redlock.ErrClosed) })
	case x.released[c.Lease] && c.Func == protocols.ExtendCall:
		x.opens(c, "extend of a released lease", "ErrReleased", func(err error) bool {
			return isOf(err, driver.OpExtend, redlock.ErrReleased) || ended != nil && isOf(err, driver.OpExtend, ended)
		})
	case ended != nil && c.Func == protocols.ExtendCall:
		x.opens(c, "extend in a context that has ended", "the context's error", func(err error) bool {
			return isOf(err, driver.OpExtend, ended) || isOf(err, driver.OpExtend, redlock.ErrLost)
		})
	case ended != nil && c.Func == protocols.AcquireCall:
		x.opens(c, "acquire in a context that has ended", "the context's error", func(err error) bool {
			return isOf(err, driver.OpAcquire, ended) && errors.Is(err, redlock.ErrNotAcquired)
		})
	}
}

// isOf says whether an error is that of a call which was made, and matches one of its reasons.
func isOf(err error, op driver.Op, reason error) bool {
	e := (*redlock.Error)(nil)
	return errors.As(err, &e) && e.Op == op && errors.Is(err, reason)
}

// releases notes a release that cannot succeed.
func (x *refusals) releases(c *protocols.Call, ended error) {
	switch {
	case x.released[c.Lease]:
		x.opens(c, "second release", "ErrReleased", func(err error) bool { return isOf(err, driver.OpRelease, redlock.ErrReleased) })
	case ended != nil:
		r := x.notes(c, "release in a context that has ended", "the context's error")
		r.isRight = func(err error) bool {
			return isOf(err, driver.OpRelease, ended) || isOf(err, driver.OpRelease, redlock.ErrLost)
		}
	}
}

// opens notes a call that must be refused before anything comes of it.
func (x *refusals) opens(c *protocols.Call, what, wants string, isRight func(error) bool) {
	r := x.notes(c, what, wants)
	r.isRight, r.isSilent = isRight, true
}

func (x *refusals) notes(c *protocols.Call, what, wants string) *refusal {
	client := x.run.World.Client(c.Client)
	r := &refusal{Call: c, what: what, wants: wants, client: client, began: x.run.World.Kernel.Now(), drawn: client.Drawn()}
	if c.Lease != nil {
		r.until, r.isHeld = c.Lease.Until(), c.Lease.Context().Err() == nil
	}
	x.open = append(x.open, r)
	return r
}

func (x *refusals) sends(_ redis.Passage, a *redis.Asked) {
	x.does(a.Client, func() string { return "a command is sent to " + a.Server.Name() })
}

func (x *refusals) reports(client string, e *observe.Event) {
	if len(x.open) > 0 {
		x.does(x.run.World.Client(client), func() string { return "its client reports the step " + e.Step.String() })
	}
}

// does notes what a client does while one of its calls should do nothing.
func (x *refusals) does(client *kernel.Process, what func() string) {
	for _, r := range x.open {
		if r.isSilent && r.client == client && r.did == "" {
			r.did = what()
		}
	}
}

func (x *refusals) returned(c *protocols.Call, err error) {
	if of, asked := x.asks[c]; asked && c.Lease != nil {
		x.madeBy[c.Lease], x.ttls[c.Lease] = of, c.TTL
	}
	delete(x.asks, c)
	i := slices.IndexFunc(x.open, func(r *refusal) bool { return r.Call == c })
	if i < 0 {
		return
	}
	r := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	x.run.Refusals++
	resource := x.run.subjectOf(c)
	if !r.isRight(err) {
		x.run.broken(checker.Contract, resource, "%s: %s returns %q, and is documented to return %s", c.Client, r.what, text(err), r.wants)
	}
	if did := r.came(x.run.World.Kernel.Now()); r.isSilent && did != "" {
		x.run.broken(checker.Contract, resource, "%s: %s must be refused before anything comes of it, and %s", c.Client, r.what, did)
	}
}

// came is what came of a call; empty if nothing did.
func (r *refusal) came(now kernel.True) string {
	switch {
	case r.did != "":
		return r.did
	case now != r.began:
		return "it takes " + now.Sub(r.began).String()
	case r.client.Drawn() != r.drawn:
		return "random bytes are drawn for it"
	case r.Lease != nil && !r.Lease.Until().Equal(r.until):
		return "the end of its lease moves"
	case r.Lease != nil && r.isHeld && context.Cause(r.Lease.Context()) == redlock.ErrReleased:
		return "its lease is released"
	}
	return ""
}
