package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

var callErrorsRule = Rule{
	Name:  "call-errors",
	Kind:  checker.Contract,
	Needs: "an error of the library, and what it says",
	Doc: `
The error of a call is about this call and its resources, and says why. It names a cause only if that is true: the context's,
if it has ended; a closed client, if somebody closed it; no token left, if a counter has or had nearly the largest; any other,
if the client had no random bytes meanwhile. A call that waits says why it gave up. A release in the context of its own lease
goes on if that ended only with the lease. (*redlock*.)`,
	New: watchCallErrors,
}

// callErrors judges what an error of the library is about, and why it says that the call ended: what it tells of the nodes is
// what the library has reported, which the specification and answers judge.
type callErrors struct {
	*watch
	isUsedUp bool // a counter has, or had, no token above it
}

func watchCallErrors(r *watch) {
	if _, votes := r.Lock.Votes(len(r.World.Servers)); !votes || len(r.World.Replicas) > 0 || !protocols.Has[protocols.RedlockSettings](r.Lock) {
		return
	}
	x := &callErrors{watch: r}
	r.onReturn(x.returned)
	r.onChange(func() { x.isUsedUp = x.isUsedUp || r.raised.isUsedUp() })
}

func (x *callErrors) returned(c *call, err error) {
	e, is := errors.AsType[*redlock.Error](err)
	if !is || len(c.Resources) == 0 { // it is about the client
		return
	}
	x.judged++
	for _, wrong := range []string{x.kind(c, err, e), x.cause(c, e)} {
		if wrong != "" {
			x.broken(c.Resources[0], "%s gets an error that is not true, as %s: %v", c.Client, wrong, e)
			return
		}
	}
}

// kind says what is wrong with what the error is about; empty if nothing is.
func (x *callErrors) kind(c *call, err error, e *redlock.Error) string {
	of := map[protocols.CallFunc]driver.Op{protocols.AcquireCall: driver.OpAcquire, protocols.ExtendCall: driver.OpExtend, protocols.ReleaseCall: driver.OpRelease}
	switch {
	case e.Op != of[c.Func]:
		return "that is not what it called"
	case e.Resource != nameOf(c):
		return fmt.Sprintf("it is about %q", nameOf(c))
	case c.Func == protocols.AcquireCall && !errors.Is(err, redlock.ErrNotAcquired):
		return "it does not match ErrNotAcquired"
	case e.Reason == nil && e.Cause == nil:
		return "that says neither a reason nor a cause"
	case c.Func == protocols.AcquireCall && c.Waits && e.Cause == nil && x.isLibrary():
		return "it waited, and that does not say why it gave up"
	}
	return ""
}

// cause says what is wrong with the cause, or with an end of the lease.
func (x *callErrors) cause(c *call, e *redlock.Error) string {
	isEnd := isContextEnd(e.Cause)
	switch {
	case isEnd && c.Func == protocols.ReleaseCall && c.Context != nil && x.goesOn(c):
		return "nothing but the end of the lease has ended the context it was called in, which was that of the lease"
	case errors.Is(e, redlock.ErrClosed) && !x.isClosed(c):
		return "nobody closed the client"
	case isEnd && c.Context != nil && c.Context.Err() == nil && c.Wait == 0:
		return "its context has not ended"
	case errors.Is(e.Cause, redlock.ErrTokensUsedUp) && !x.isUsedUp:
		return "no node has the largest token"
	case e.Cause == nil, isEnd, errors.Is(e.Cause, redlock.ErrClosed), errors.Is(e.Cause, redlock.ErrTokensUsedUp):
		return ""
	case !c.isStarved:
		return "nothing failed that it needs"
	}
	return ""
}

// goesOn says whether a release in the context of its own lease goes on: nothing but the end of the lease has ended that.
func (x *callErrors) goesOn(c *call) bool {
	why := context.Cause(c.Context)
	if why != redlock.ErrReleased && why != redlock.ErrLost {
		return false
	}
	deadline, ok := c.Context.Deadline()
	return !ok || x.clock(c.Client).Before(deadline)
}

// isClosed says whether the client of a call is closed, or may be: a lease may be of one before.
func (x *callErrors) isClosed(c *call) bool {
	if c.Lease != nil {
		return x.calls.closed(c.Client) > 0
	}
	return x.calls.isClosed(c.Client, c.made)
}

// countNodes is how many nodes answered in one of these ways, by what an error tells.
func countNodes(e *redlock.Error, outcomes ...driver.Outcome) (n int) {
	for _, node := range e.Nodes {
		if slices.Contains(outcomes, node.Outcome) {
			n++
		}
	}
	return n
}
