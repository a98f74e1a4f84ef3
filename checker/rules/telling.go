package rules

import (
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// telling compares what calls return with the steps with which the library has told of their ends. A call has told of its own
// end before it returns, and what it returns is that.
type telling struct {
	run   *Run
	calls []underWay
	ends  []ending          // that no call has returned yet
	over  map[leaseOf]error // leases that were released, or else lost
	// reports has the clients that report their steps: a lock of one's own may have nobody told.
	reports map[string]bool
}

// ending is a step that is the end of a call.
type ending struct {
	client string
	observe.Event
}

// leaseOf is a lease of a client, by its value.
type leaseOf struct{ client, value string }

func watchTelling(r *Run) {
	if !r.isLibrary() {
		return
	}
	x := &telling{run: r, over: map[leaseOf]error{}, reports: map[string]bool{}}
	r.onStep(x.observed)
	r.onReturn(x.returned)
	r.onCall(func(c *protocols.Call) {
		if c.Func != protocols.NewClientCall {
			x.calls = append(x.calls, underWay{c, r.World.Kernel.Now()})
		}
	})
	r.onCrash(func(client string) {
		x.forget(client)
		x.calls = slices.DeleteFunc(x.calls, func(c underWay) bool { return c.Client == client })
	})
}

// forget has no step of a client wait for the return of a call any more.
func (x *telling) forget(client string) {
	x.ends = slices.DeleteFunc(x.ends, func(e ending) bool { return e.client == client })
}

func (x *telling) observed(client string, e *observe.Event) {
	if x.run.World.Client(client).Dead() { // it may be ended in the middle of what happens at a step
		return
	}
	if !x.reports[client] {
		x.reports[client] = true
	}
	switch lease := (leaseOf{client, e.Value}); e.Step {
	case observe.Granted, observe.GaveUp, observe.Extended, observe.NotExtended, observe.Released:
		x.ends = append(x.ends, ending{client, *e})
	case observe.Lost:
		x.over[lease] = redlock.ErrLost
	case observe.ReleaseStarted:
		x.over[lease] = redlock.ErrReleased
	}
}

func (x *telling) returned(c *protocols.Call, err error) {
	i := slices.IndexFunc(x.calls, func(open underWay) bool { return open.Call == c })
	if i < 0 {
		return
	}
	wrong := ""
	switch {
	case !x.reports[c.Client]:
	case c.Func == protocols.AcquireCall:
		wrong = x.acquired(x.calls[i], err)
	case c.Func == protocols.ExtendCall:
		wrong = x.renewed(c, err)
	case c.Func == protocols.ReleaseCall:
		wrong = x.released(c, err)
	case c.Func == protocols.CloseCall:
		wrong = x.closed(c, err, x.calls[:i])
	}
	x.run.Judged[checker.JudgeTelling]++
	if wrong != "" {
		x.run.broken(checker.Contract, x.run.subjectOf(c), "%s's %s %s", c.Client, callNames[c.Func], wrong)
	}
	x.calls = slices.Delete(x.calls, i, i+1)
	x.unreturned(c)
}

// take looks for a step of a call's client that was not returned yet, and counts it as returned.
func (x *telling) take(c *protocols.Call, step observe.Step, is func(observe.Event) bool) (e observe.Event, found bool) {
	i := slices.IndexFunc(x.ends, func(end ending) bool { return end.client == c.Client && end.Step == step && is(end.Event) })
	if i < 0 {
		return e, false
	}
	e = x.ends[i].Event
	x.ends = slices.Delete(x.ends, i, i+1)
	return e, true
}

// with says whether a step tells of an error in the same words.
func with(err error) func(observe.Event) bool {
	return func(e observe.Event) bool { return e.Err != nil && (e.Err == err || e.Err.Error() == err.Error()) }
}

func (x *telling) acquired(c underWay, err error) (wrong string) {
	lease, voted := c.Lease.(protocols.Voted)
	if err == nil && voted {
		e, found := x.take(c.Call, observe.Granted, func(e observe.Event) bool { return e.Value == lease.Value() })
		token, _ := c.Lease.Token()
		switch {
		case !found:
			return "was granted, and has not told so"
		case e.Resource != nameOf(c.Call):
			return "has told of a grant of " + e.Resource
		case !e.Until.Equal(c.Lease.Until()):
			return "has told of another end of the lease"
		case e.Token != token:
			return "has told of another fencing token"
		}
		return ""
	}
	failed := (*redlock.Error)(nil)
	if !errors.As(err, &failed) {
		return ""
	}
	// A call that ends at once, and never asked, has told of nothing.
	hasAsked := failed.Attempts > 1 || failed.Attempts == 1 && failed.Nodes != nil
	if _, found := x.take(c.Call, observe.GaveUp, with(err)); !found && (hasAsked || x.run.waited(c) > 0) {
		return "was refused, and has not told so: " + err.Error()
	}
	return ""
}

// ofLease says whether a step is about the lease of a call.
func ofLease(c *protocols.Call) func(observe.Event) bool {
	lease, voted := c.Lease.(protocols.Voted)
	return func(e observe.Event) bool { return voted && e.Value == lease.Value() }
}

func (x *telling) renewed(c *protocols.Call, err error) (wrong string) {
	if err != nil {
		return x.failed(c, observe.NotExtended, err)
	}
	switch e, found := x.take(c, observe.Extended, ofLease(c)); {
	case !found:
		return "succeeded, and has not told so"
	case e.Until.After(c.Lease.Until()):
		return "has told of a later end of the lease"
	}
	return ""
}

func (x *telling) released(c *protocols.Call, err error) (wrong string) {
	if err != nil {
		return x.failed(c, observe.Released, err)
	}
	isDone := func(e observe.Event) bool { return ofLease(c)(e) && e.Err == nil }
	if _, found := x.take(c, observe.Released, isDone); !found {
		return "succeeded, and has not told so"
	}
	return ""
}

// failed is about an extend or release that has failed, and of which a step tells, unless nodes were not asked because the
// lease was over.
func (x *telling) failed(c *protocols.Call, step observe.Step, err error) (wrong string) {
	e := (*redlock.Error)(nil)
	lease, voted := c.Lease.(protocols.Voted)
	if !errors.As(err, &e) || !voted {
		return ""
	}
	if e.Nodes != nil {
		if _, found := x.take(c, step, func(e observe.Event) bool { return ofLease(c)(e) && with(err)(e) }); !found {
			return "failed, and has not told so: " + err.Error()
		}
		return ""
	}
	switch over := x.over[leaseOf{c.Client, lease.Value()}]; {
	case e.Op == driver.OpRelease && e.Reason != redlock.ErrReleased:
		return "asked no node: " + err.Error()
	case e.Reason == redlock.ErrReleased && over != redlock.ErrReleased, e.Reason == redlock.ErrLost && over == nil:
		return "says that the lease is over, and nobody was told: " + err.Error()
	}
	return ""
}

// closed looks whether a call is still under way that began before the client was closed.
func (x *telling) closed(c *protocols.Call, err error, before []underWay) (wrong string) {
	if err != nil || x.run.clients.number(c.Client) > 0 {
		return ""
	}
	for _, open := range before {
		if open.Client == c.Client && open.Func != protocols.CloseCall {
			return "has not waited for the " + callNames[open.Func] + " that is under way"
		}
	}
	return ""
}

// unreturned looks whether the client of a call that has returned has told of the end of an acquire or release that no call has
// returned, when no more of them are under way.
func (x *telling) unreturned(c *protocols.Call) {
	if slices.ContainsFunc(x.calls, func(open underWay) bool { return open.Client == c.Client }) {
		return
	}
	for _, e := range x.ends {
		if e.client == c.Client && e.Step != observe.Extended && e.Step != observe.NotExtended {
			x.run.broken(checker.Contract, resourcesOf(e.Resource)[0], "%s reports the step %s of a call on %s, and no call has returned that", c.Client, e.Step, e.Resource)
			break
		}
	}
	x.forget(c.Client)
}
