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

var refusalsRule = Rule{
	Name:  "refusals",
	Kind:  checker.Contract,
	Needs: "a call that had to be refused, and what came of it",
	Doc: `
A call that must be refused returns the documented error and does nothing: it takes no time, draws no random bytes, reports no
step, sends no command, and leaves its lease as it is. Such calls are those of a closed client or about a released lease, and
acquires and extends in a context that has ended, or with a TTL above the largest of the restart guard. A release in a context
that has ended returns its error as well but goes on, and Close fails only if its context ends. No attempt and no extend begins
once Close was called, and no vote is asked for after it returned. (*redlock*.)`,
	New: watchRefusals,
}

// refusals judges the calls that must be refused: of a closed client, in a context that has ended, about a lease that was
// released, or with a TTL that is too long. They get the documented error, and nothing comes of them: no time passes, nothing
// is drawn, reported or sent, and the lease stays as it is.
type refusals struct {
	*watch
	open []*refusal
}

// refusal is such a call that has not returned.
type refusal struct {
	*call
	what  string // is called, and why it must be refused
	wants string // the error that is documented for it
	// isRight says whether an error is that one.
	isRight func(error) bool
	// happens says that the call is made all the same: a release in a context that has ended.
	happens bool
	drawn   int
	// until is the end of its lease, and isHeld says that the lease has not ended.
	until  time.Time
	isHeld bool
	did    string // the first of what should not have come of it
}

func watchRefusals(r *watch) {
	if r.isLibrary() {
		r.onApplied(func(a *redis.Applied) {
			if client := a.Client.Name(); a.Set() && slices.Contains(r.Resources, a.Key) && a.Sent > r.calls.quiet(client) {
				r.broken(a.Key, "%s still asks %s for its vote, but was closed before", client, a.Server.Name())
			}
		})
		r.onStep(func(client string, e *observe.Event) {
			if r.calls.closed(client) == len(r.calls.all(client)) { // of several it cannot be told which of them does it
				r.broken(resourcesOf(e.Resource)[0], "%s reports the step %s after the client was closed", client, e.Step)
			}
		}, observe.AttemptStarted, observe.ExtendStarted)
	}
	if r.Foreign || !r.Lock.Capabilities().Closes {
		return
	}
	x := &refusals{watch: r}
	follow(r.Run, &x.open, x.called, x.returned)
	r.onCommand(x.sends, redis.Sent)
	r.onStep(x.reports)
}

// isClosed says whether the client that a call is made of was closed before: the one that granted its lease, that the call for
// a permit was made of, or else the newest.
func (x *refusals) isClosed(c *call) bool {
	if g := x.leases.of[c.Lease]; g != nil {
		return x.calls.isClosed(c.Client, g.by.made)
	}
	return x.calls.isClosed(c.Client, c.made)
}

// isTooLong says whether a call asks for a lock that would outlive the quarantine of a node.
func (x *refusals) isTooLong(c *call) bool {
	guard := protocols.Of[protocols.RedlockSettings](x.Lock).Guard
	return guard != nil && c.TTL > guard.MaxTTL
}

// called is a call that must be refused; nil if it is another.
func (x *refusals) called(c *call) *refusal {
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
	g := x.leases.of[c.Lease]
	isReleased := g != nil && g.release != nil && g.release != c
	switch {
	case x.isTooLong(c):
		return refuses(c, false, callNames[c.Func]+" with a TTL above that of the restart guard", "ErrInvalid",
			func(err error) bool { return errors.Is(err, redlock.ErrInvalid) })
	case c.Renewal: // of which it is told once the library has begun it
	case c.Func == protocols.CloseCall: // which fails only if its context ends
		return refuses(c, true, "Close", "nothing but the end of its context", func(err error) bool {
			return err == nil || c.Context != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
		})
	case c.Func == protocols.NewClientCall:
	case c.Func == protocols.ReleaseCall && isReleased:
		return refuses(c, false, "second release", "ErrReleased", isOf(driver.OpRelease, redlock.ErrReleased))
	case c.Func == protocols.ReleaseCall:
		if ended != nil {
			return refuses(c, true, "release in a context that has ended", "the context's error", isOf(driver.OpRelease, ended, redlock.ErrLost))
		}
	case x.isClosed(c) && (c.Func != protocols.PrepareCall || isGuarded(x.Run)):
		return refuses(c, false, callNames[c.Func]+" of a closed client", "ErrClosed", func(err error) bool { return errors.Is(err, redlock.ErrClosed) })
	case isReleased && c.Func == protocols.ExtendCall:
		return refuses(c, false, "extend of a released lease", "ErrReleased", isOf(driver.OpExtend, redlock.ErrReleased, ended))
	case ended != nil && c.Func == protocols.ExtendCall:
		return refuses(c, false, "extend in a context that has ended", "the context's error", isOf(driver.OpExtend, ended, redlock.ErrLost))
	case ended != nil && c.Func == protocols.AcquireCall:
		isRight := isOf(driver.OpAcquire, ended)
		return refuses(c, false, "acquire in a context that has ended", "the context's error", func(err error) bool {
			return isRight(err) && errors.Is(err, redlock.ErrNotAcquired)
		})
	}
	return nil
}

func refuses(c *call, happens bool, what, wants string, isRight func(error) bool) *refusal {
	r := &refusal{call: c, happens: happens, what: what, wants: wants, isRight: isRight, drawn: c.client.Drawn()}
	if c.Lease != nil {
		r.until, r.isHeld = c.Lease.Until(), c.Lease.Context().Err() == nil
	}
	return r
}

func (x *refusals) sends(a *redis.Asked) {
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

func (x *refusals) returned(r *refusal, err error) {
	x.judged++
	resource := x.subjectOf(r.call)
	if !r.isRight(err) {
		x.broken(resource, "%s: %s returns %q, and is documented to return %s", r.Client, r.what, text(err), r.wants)
	}
	if did := r.came(x.World.Kernel.Now()); !r.happens && did != "" {
		x.broken(resource, "%s: %s must be refused before anything comes of it, and %s", r.Client, r.what, did)
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
