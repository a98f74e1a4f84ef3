package rules

import (
	"context"
	"errors"
	"slices"
	"time"

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
	*watch
	open     []*refusal
	madeBy   map[protocols.Lease]int  // the number of the client whose lease it is; see clients
	released map[protocols.Lease]bool // of which a release was called
	asks     map[*protocols.Call]int  // acquires that have not returned, with the numbers of their clients
}

// refusal is such a call that has not returned.
type refusal struct {
	*protocols.Call
	what  string // is called, and why it must be refused
	wants string // the error that is documented for it
	// isRight says whether an error is that one.
	isRight func(error) bool
	// happens says that the call is made all the same: a release in a context that has ended.
	happens bool
	client  *kernel.Process
	began   kernel.True
	drawn   int
	// until is the end of its lease, and isHeld says that the lease has not ended.
	until  time.Time
	isHeld bool
	did    string // the first of what should not have come of it
}

func watchRefusals(r *watch) {
	if r.isLibrary() {
		r.onApplied(func(a *redis.Applied) {
			if client := a.Client.Name(); a.Set() && slices.Contains(r.Resources, a.Key) && a.Sent > r.clients.quiet(client) {
				r.broken(a.Key, "%s still asks %s for its vote, but was closed before", client, a.Server.Name())
			}
		})
		r.onStep(func(client string, e *observe.Event) {
			if r.clients.allClosed(client) { // of several it cannot be told which of them does it
				r.broken(resourcesOf(e.Resource)[0], "%s reports the step %s after the client was closed", client, e.Step)
			}
		}, observe.AttemptStarted, observe.ExtendStarted)
	}
	if r.Foreign || !r.Lock.Capabilities().Closes {
		return
	}
	x := &refusals{watch: r, madeBy: map[protocols.Lease]int{}, released: map[protocols.Lease]bool{}, asks: map[*protocols.Call]int{}}
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onCommand(x.sends, redis.Sent)
	r.onStep(x.reports)
}

// isClosed says whether the client that a call is made of was closed before: the one that granted its lease, that the call for
// a permit was made of, or else the newest.
func (x *refusals) isClosed(c *protocols.Call) bool {
	if of, known := x.madeBy[c.Lease]; known {
		return x.clients.isClosed(c.Client, of)
	}
	return x.clients.isClosed(c.Client, x.clients.numberOf(c))
}

// called notes a call that must be refused.
func (x *refusals) called(c *protocols.Call) {
	ended, ofLease := error(nil), c.Lease != nil && c.Context == c.Lease.Context()
	if c.Context != nil && !ofLease {
		ended = c.Context.Err()
	}
	isOf := func(op driver.Op, reasons ...error) func(error) bool { // of a call that was made
		return func(err error) bool {
			e, is := errors.AsType[*redlock.Error](err)
			return is && e.Op == op && slices.ContainsFunc(reasons, func(r error) bool { return r != nil && errors.Is(err, r) })
		}
	}
	switch {
	case c.Renewal: // of which it is told once the library has begun it
	case c.Func == protocols.CloseCall: // which fails only if its context ends
		x.refuses(c, "Close", "nothing but the end of its context", func(err error) bool {
			return err == nil || c.Context != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
		}).happens = true
	case c.Func == protocols.NewClientCall:
	case c.Func == protocols.ReleaseCall && x.released[c.Lease]:
		x.refuses(c, "second release", "ErrReleased", isOf(driver.OpRelease, redlock.ErrReleased))
	case c.Func == protocols.ReleaseCall:
		x.released[c.Lease] = true
		if ended != nil {
			x.refuses(c, "release in a context that has ended", "the context's error", isOf(driver.OpRelease, ended, redlock.ErrLost)).happens = true
		}
	case x.isClosed(c) && (c.Func != protocols.PrepareCall || isGuarded(x.Run)):
		x.refuses(c, callNames[c.Func]+" of a closed client", "ErrClosed", func(err error) bool { return errors.Is(err, redlock.ErrClosed) })
	case x.released[c.Lease] && c.Func == protocols.ExtendCall:
		x.refuses(c, "extend of a released lease", "ErrReleased", isOf(driver.OpExtend, redlock.ErrReleased, ended))
	case ended != nil && c.Func == protocols.ExtendCall:
		x.refuses(c, "extend in a context that has ended", "the context's error", isOf(driver.OpExtend, ended, redlock.ErrLost))
	case ended != nil && c.Func == protocols.AcquireCall:
		isRight := isOf(driver.OpAcquire, ended)
		x.refuses(c, "acquire in a context that has ended", "the context's error", func(err error) bool {
			return isRight(err) && errors.Is(err, redlock.ErrNotAcquired)
		})
	}
	if c.Func == protocols.AcquireCall {
		x.asks[c] = x.clients.numberOf(c)
	}
}

func (x *refusals) refuses(c *protocols.Call, what, wants string, isRight func(error) bool) *refusal {
	client := x.World.Client(c.Client)
	r := &refusal{Call: c, what: what, wants: wants, isRight: isRight, client: client, began: x.World.Kernel.Now(), drawn: client.Drawn()}
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
		x.does(x.World.Client(client), func() string { return "its client reports the step " + e.Step.String() })
	}
}

// does notes what a client does while one of its calls should do nothing.
func (x *refusals) does(client *kernel.Process, what func() string) {
	for _, r := range x.open {
		if !r.happens && r.client == client && r.did == "" {
			r.did = what()
		}
	}
}

func (x *refusals) returned(c *protocols.Call, err error) {
	if of, asked := x.asks[c]; asked && c.Lease != nil {
		x.madeBy[c.Lease] = of
	}
	delete(x.asks, c)
	i := slices.IndexFunc(x.open, func(r *refusal) bool { return r.Call == c })
	if i < 0 {
		return
	}
	r := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	x.judged++
	resource := x.subjectOf(c)
	if !r.isRight(err) {
		x.broken(resource, "%s: %s returns %q, and is documented to return %s", c.Client, r.what, text(err), r.wants)
	}
	if did := r.came(x.World.Kernel.Now()); !r.happens && did != "" {
		x.broken(resource, "%s: %s must be refused before anything comes of it, and %s", c.Client, r.what, did)
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
