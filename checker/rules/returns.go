package rules

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

var returnsRule = Rule{
	Name:  "returns",
	Kind:  checker.Contract,
	Needs: "a call that is to return within a time",
	Doc: `
A call returns at once when its context ends, and Hold stops waiting for the lock when its wait is over. TryLock takes at most
one node timeout, or two with fencing; Extend one; Unlock and PrepareGuard two. When its work returns, Renew returns at once,
and Hold within two node timeouts. Close, and the acquires that are under way then, return within three node timeouts, or four
with fencing; later acquires at once. A release during a Close starts its time anew, and so does a pause. With step-time,
sixteen of the longest steps for each node and two more are added for each call under way, and for each acquire that failed within
its TTL, whose releases may still be under way. (*redlock*.)`,
	New: watchReturns,
}

// returns judges how long calls of the library go on: after their contexts have ended, after their client was closed, and at
// all where they are documented to take no longer than so many node timeouts.
type returns struct {
	*watch
	patience
	open   []*pendingCall
	failed []failedAcquire
}

// failedAcquire is one whose releases may be under way until a time.
type failedAcquire struct {
	client *kernel.Process
	until  kernel.True
}

// pendingCall is a call that has not returned.
type pendingCall struct {
	call     *call           // or nil
	work     *protocols.Work // or nil
	client   *kernel.Process
	resource string
	name     string
	limits   []limit
	isPaused bool
	with     int // calls of the process that were under way at the same time, and failed acquires that it cleaned up after
}

// limit is a time that a call may take from a reading of the client's monotonic clock, which timers go by.
type limit struct {
	from   kernel.Mono
	since  string // what happened then
	within time.Duration
}

func watchReturns(r *watch) {
	if !r.isLibrary() {
		return
	}
	p, _ := patienceOf(r.Lock, len(r.World.Servers), r.StepTime)
	x := &returns{watch: r, patience: p}
	r.onCall(x.called)
	r.onReturn(func(c *call, err error) {
		x.over(func(p *pendingCall) bool { return p.call == c })
		if err != nil && c.Func == protocols.AcquireCall && r.StepTime != 0 {
			x.failed = append(x.failed, failedAcquire{c.client, r.World.Kernel.Now().Add(c.TTL)})
		}
	})
	trace.On(r.World.Events, x.stops)
	trace.On(r.World.Events, func(w protocols.WorkReturned) { x.over(func(p *pendingCall) bool { return p.work == w.Work }) })
	r.onEnd = append(r.onEnd, func() { x.over(func(*pendingCall) bool { return true }) })
	r.onChange(x.look)
}

func (r *returns) called(c *call) {
	if c.Func == protocols.NewClientCall {
		return
	}
	p := &pendingCall{call: c, client: c.client, resource: r.subjectOf(c), name: callNames[c.Func]}
	r.opens(p)
	switch c.Func {
	case protocols.AcquireCall:
		if !c.Waits {
			p.limit("it was called", r.attempt)
		}
	case protocols.ExtendCall:
		p.limit("it was called", r.timeout)
	case protocols.ReleaseCall:
		p.limit("it was called", r.release())
		r.holdsUp(p)
	case protocols.PrepareCall:
		p.limit("it was called", 2*r.timeout) // to ask which runs the nodes are in, and to tell them
	case protocols.CloseCall:
		p.limit("it was called", r.whole(r.waits(p.client)))
	}
	if c.Context != nil { // otherwise a protocol calls by itself
		r.follows(p)
	}
}

// release is how long a release may take: a node that has not answered the acquire yet is asked when it has, or might have.
func (r *returns) release() time.Duration { return 2 * r.timeout }

// whole is how long it takes after Close until nothing is under way: an attempt, with its gates if it is one of an acquire that
// waits, its clean-up, and votes that are taken back.
func (r *returns) whole(waits bool) time.Duration {
	all := r.attempt + r.cleanUp + r.timeout
	if waits {
		all += r.gates
	}
	return all
}

// waits says whether a client has an acquire under way that waits.
func (r *returns) waits(client *kernel.Process) bool {
	return slices.ContainsFunc(r.open, func(p *pendingCall) bool {
		return p.client == client && p.call != nil && p.call.Func == protocols.AcquireCall && p.call.Waits
	})
}

// opens begins to watch a call.
func (r *returns) opens(p *pendingCall) {
	for _, other := range r.open {
		if other.client == p.client {
			other.with++
			p.with++
		}
	}
	r.failed = slices.DeleteFunc(r.failed, func(f failedAcquire) bool { return r.World.Kernel.Now() > f.until })
	for _, f := range r.failed {
		if f.client == p.client {
			p.with++
		}
	}
	p.isPaused = p.client.Paused()
	r.open = append(r.open, p)
}

// limit has the call return within some time from now on. Code that takes time may be ahead of the run.
func (p *pendingCall) limit(since string, within time.Duration) {
	p.limits = append(p.limits, limit{p.client.Mono(), since, within})
}

// holdsUp has the calls of Close wait for a release that begins meanwhile, if they are not too late already.
func (r *returns) holdsUp(release *pendingCall) {
	for _, p := range r.open {
		if p.client == release.client && p.call != nil && p.call.Func == protocols.CloseCall {
			r.judge(p)
			p.restart("a release was called")
		}
	}
}

// restart counts all limits from now on.
func (p *pendingCall) restart(since string) {
	for i := range p.limits {
		p.limits[i].from, p.limits[i].since = p.client.Mono(), since
	}
}

// follows takes what else ends a call that a program makes: its client, its wait, and its context.
func (r *returns) follows(p *pendingCall) {
	c := p.call
	switch {
	case c.Func == protocols.CloseCall:
		r.closes(p)
	case c.Func == protocols.AcquireCall && r.calls.isClosed(c.Client, c.made):
		p.limit("the client was closed", 0)
	}
	if c.Wait > 0 {
		p.limit("it was called", c.Wait)
	}
	kernel.WhenEnded(c.Context, func() { p.ends(c) })
}

// ends takes the end of the call's context. A release does not end with the context of its own lease, but when that has a
// deadline.
func (p *pendingCall) ends(c *call) {
	why := context.Cause(c.Context)
	if c.Func != protocols.ReleaseCall || !errors.Is(why, redlock.ErrReleased) && !errors.Is(why, redlock.ErrLost) {
		p.limit("its context ended", 0)
	} else if deadline, ok := c.Context.Deadline(); ok {
		p.limit("its context ended", max(0, deadline.Sub(p.client.ProgramClock().Now())))
	}
}

// closes has the acquires end that the client has under way.
func (r *returns) closes(by *pendingCall) {
	for _, p := range r.open {
		if p.client == by.client && p.call != nil && p.call.made == by.call.made && p.call.Func == protocols.AcquireCall {
			p.limit("the client was closed", r.whole(p.call.Waits))
		}
	}
}

// stops has the call that has done work return: after a release, if it makes one.
func (r *returns) stops(w protocols.WorkDone) {
	p := &pendingCall{work: w.Work, client: r.World.Client(w.Client), resource: w.Resource, name: "call that has done work"}
	r.opens(p)
	if w.Releases {
		p.limit("the work returned", r.release())
	} else {
		p.limit("the work returned", 0)
	}
}

// over judges calls that are over, and those that the run ends before.
func (r *returns) over(is func(*pendingCall) bool) {
	r.open = slices.DeleteFunc(r.open, func(p *pendingCall) bool {
		if !is(p) {
			return false
		}
		r.judge(p)
		return true
	})
}

// judge compares how long a call has taken with its limits. Its client's code, where that takes time, does something for each
// node some times, and does it for other calls, and for what they have left under way, in between.
func (r *returns) judge(p *pendingCall) {
	if p.isPaused {
		return
	}
	steps := 16 * (len(r.World.Servers) + 2) * (p.with + 1)
	grace := rounding + time.Duration(steps)*r.step(p.client)
	for _, l := range p.limits {
		r.judged++
		if took := time.Duration(p.client.Clock().Mono() - l.from); took > l.within+grace {
			r.broken(p.resource, "%s's %s went on for %v after %s, and may take %v", p.client.Name(), p.name,
				took.Round(time.Microsecond), l.since, l.within)
			return
		}
	}
}

// look has calls whose client was paused count their time anew, and drops those whose client has crashed.
func (r *returns) look() {
	r.open = slices.DeleteFunc(r.open, func(p *pendingCall) bool { return p.client.Dead() })
	for _, p := range r.open {
		if p.isPaused && !p.client.Paused() {
			p.restart("the client went on")
		}
		p.isPaused = p.client.Paused()
	}
}
