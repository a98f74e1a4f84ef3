package rules

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

var permitsRule = Rule{
	Name:  "permits",
	Kind:  checker.Contract,
	Needs: "a call for a permit of a semaphore, what it asked for and what it returned",
	Doc: `
A call for a permit asks only for permits that its client does not have, only for as long as it was called for, and for none
once it has one (*conduct*). A look that ends without one has asked for every permit that the client does not hold, and a
waiting call looks at least once in nine quarters of the longest retry delay (*needlessly-unavailable*). The call succeeds if
an attempt was granted, and else says why not, about the semaphore. A call for all permits asks first for the lock that only
such calls take, works only while it has everything, stops its work only for a loss and for the end of the call, renews nothing
after that, and leaves nothing behind. (*redlock*.)`,
	New: watchPermits,
}

// permits judges calls for a permit of a semaphore, and for all of them. They ask for the permits and for nothing else, look
// for one that is free, and return what came of it. Who calls for all works only while it has them. Each attempt is a call for
// a lock, which the other monitors judge.
type permits struct {
	*watch
	delay time.Duration // the longest between two looks
	// timed says that it is known when a call must look: code takes no time, and the delays are measured by a clock that is
	// known.
	timed bool
	open  []*seeker // in the order of the calls
	// last are the leases that clients go by: the last on each permit, until it is given back.
	last map[permitOf]*granted
	lost map[*granted]kernel.True // when the context ended of one that nobody had begun to give back
}

// permitOf is a permit of a client, which has a number as in calls.
type permitOf struct {
	claim
	made int
}

// seeker is a call that has not returned.
type seeker struct {
	*protocols.PermitCall
	made         int // the number of its client in the process; see calls
	attempts     int
	asked        []string    // in its last look, or in all where it is for all permits
	away         []string    // what its client had when that look began
	perhaps      []string    // what it may have had besides
	isCut        bool        // the last attempt failed as those for all other permits would
	isGiven      bool        // a permit was granted to it, or the lock that only calls for all permits take
	isAsking     bool        // an attempt is under way
	idle         time.Time   // since when it is to look, by the client's clock; zero if it need not
	since        kernel.True // the same
	work         context.Context
	isWorking    bool
	err          error // that the work returned
	isLost       bool  // something was lost while the call had it
	isUnreleased bool  // a release has failed
}

func watchPermits(r *watch) {
	if !r.isLibrary() || !r.Lock.Capabilities().Permits {
		return
	}
	x := &permits{watch: r, delay: protocols.Of[protocols.DelaySettings](r.Lock).Span().Max,
		timed: r.StepTime == 0 && r.Lock.Clock == kernel.Monotonic, last: map[permitOf]*granted{}, lost: map[*granted]kernel.True{}}
	trace.On(r.World.Events, func(c protocols.PermitCalled) {
		x.open = append(x.open, &seeker{PermitCall: c.PermitCall, made: r.calls.number(c.Client)})
		x.review()
	})
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onStep(func(string, *observe.Event) { x.review() }, observe.Lost)
	trace.On(r.World.Events, x.begins)
	trace.On(r.World.Events, x.ends)
	trace.On(r.World.Events, func(c protocols.PermitReturned) { x.gets(c.PermitCall, c.Err) })
	r.onEnd = append(r.onEnd, func() {
		for _, w := range x.open {
			x.isLate(w)
		}
	})
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(w *seeker) bool { return w.Client == client })
		maps.DeleteFunc(x.last, func(p permitOf, _ *granted) bool { return p.client == client })
	})
}

// of is the call of which an acquire is an attempt; nil if it is of none.
func (p *permits) of(c *protocols.PermitCall) *seeker {
	if i := slices.IndexFunc(p.open, func(w *seeker) bool { return w.PermitCall == c }); i >= 0 {
		return p.open[i]
	}
	return nil
}

// granted is the call that a lease was granted to; nil if it was to none, or to one that has returned.
func (p *permits) granted(l protocols.Lease) *seeker {
	if g := p.leases.of[l]; g != nil {
		return p.of(g.by.Permit)
	}
	return nil
}

// isWithin says whether two calls are of one client, for one semaphore.
func (w *seeker) isWithin(other *seeker) bool {
	return w.Client == other.Client && w.made == other.made && w.Semaphore == other.Semaphore
}

// wants is the resources that a call may ask for: of one for all permits, first the lock that only such calls take.
func (w *seeker) wants() (all []string) {
	if w.All {
		all = append(all, protocols.AllOf(w.Semaphore))
	}
	for i := range w.Permits {
		all = append(all, protocols.PermitOf(w.Semaphore, i+1))
	}
	return all
}

// heldBy are the permits that the client of a call holds, and knows of, and those that it may: where a call gives a permit back
// by itself, nobody outside sees when it begins to.
func (p *permits) heldBy(w *seeker) (certain, perhaps []string) {
	for i := range w.Permits {
		resource := protocols.PermitOf(w.Semaphore, i+1)
		switch g := p.last[permitOf{claim{w.Client, resource}, w.made}]; {
		case g == nil:
		case g.release != nil || g.Context().Err() == nil:
			certain = append(certain, resource)
		case g.by.Permit.Work != nil:
			perhaps = append(perhaps, resource)
		}
	}
	return certain, perhaps
}

// called takes an attempt that begins, and a lease that is renewed or given back.
func (p *permits) called(c *call) {
	if w := p.granted(c.Lease); w != nil && c.Func == protocols.ReleaseCall {
		if w.isWorking {
			p.broken(c.Resources[0], "%s works under all permits of %q, and gives back %q meanwhile", w.Client, w.Semaphore, c.Resources[0])
		}
		w.isLost = w.isLost || context.Cause(c.Lease.Context()) == redlock.ErrLost
	} else if w != nil && c.Renewal && w.isWorking && w.work.Err() != nil && c.Resources[0] != protocols.AllOf(w.Semaphore) {
		p.brokenOf(checker.Conduct, c.Resources[0], "%s goes on to renew %q, although its work under all permits of %q is told to stop", w.Client, c.Resources[0], w.Semaphore)
	}
	if w := p.of(c.Permit); w != nil && c.Func == protocols.AcquireCall {
		p.asks(w, c)
	}
	p.review()
}

// asks judges an attempt of a call.
func (p *permits) asks(w *seeker, c *call) {
	resource := c.Resources[0]
	if p.isLate(w); w.isNew(resource) {
		p.completes(w)
		w.asked = nil
		w.away, w.perhaps = p.heldBy(w)
	}
	wrong := ""
	switch {
	case !slices.Contains(w.wants(), resource):
		wrong = "there is no such permit"
	case c.TTL != w.TTL:
		wrong = "it is to have it for " + w.TTL.String() + ", and asks for " + c.TTL.String()
	case w.isGiven && !w.All:
		wrong = "it has got one"
	case slices.Contains(w.away, resource) && !w.All:
		wrong = "it has that itself"
	case slices.Contains(w.asked, resource):
		wrong = "it has asked for that already"
	case w.All && !w.isGiven && resource != protocols.AllOf(w.Semaphore):
		wrong = "another that wants all permits could have this one, and wait for the others"
	}
	if wrong != "" {
		p.brokenOf(checker.Conduct, resource, "%s asks for %q for a call for permits of %q, and %s", w.Client, resource, w.Semaphore, wrong)
	}
	w.asked, w.isCut, w.isAsking, w.attempts = append(w.asked, resource), false, true, w.attempts+1
}

// isNew says whether an attempt for a permit begins another look.
func (w *seeker) isNew(resource string) bool {
	return !w.All && (w.asked == nil || w.isCut || slices.Contains(w.asked, resource) || len(w.asked)+len(w.away) >= w.Permits)
}

// completes judges whether a look that found nothing has asked for all permits.
func (p *permits) completes(w *seeker) {
	if w.asked == nil || w.isCut || w.isGiven || w.All {
		return
	}
	for _, resource := range w.wants() {
		if !slices.Contains(w.asked, resource) && !slices.Contains(w.away, resource) && !slices.Contains(w.perhaps, resource) {
			p.brokenOf(checker.NeedlesslyUnavailable, resource, "%s looks for a permit of %q and finds none, and has not asked for %q", w.Client, w.Semaphore, resource)
		}
	}
}

// returned takes what came of an attempt, or of giving something back.
func (p *permits) returned(c *call, err error) {
	if c.Func == protocols.ReleaseCall {
		if w := p.granted(c.Lease); w != nil {
			w.isLost, w.isUnreleased = w.isLost || errors.Is(err, redlock.ErrLost), w.isUnreleased || err != nil
		}
		maps.DeleteFunc(p.last, func(_ permitOf, g *granted) bool { return g.Lease == c.Lease })
	}
	if w := p.of(c.Permit); w != nil && c.Func == protocols.AcquireCall {
		w.isAsking = false
		if err == nil {
			w.isGiven = true
			p.last[permitOf{claim{c.Client, c.Resources[0]}, c.made}] = p.leases.of[c.Lease]
		} else {
			failed, isFailed := errors.AsType[*redlock.Error](err)
			w.isCut = !isFailed || isOfAll(failed)
		}
	}
	p.review()
}

// isOfAll says whether an attempt for one permit failed for a reason for which those for all others would: not because others
// hold it or have votes for it, while more than half of the nodes answer, nor because its fencing counter has no token left.
func isOfAll(e *redlock.Error) bool {
	if e.Cause != nil {
		return !errors.Is(e.Cause, redlock.ErrTokensUsedUp)
	}
	silent := countNodes(e, redlock.TimedOut, redlock.Refused, redlock.Failed, redlock.Quarantined)
	isSplit := countNodes(e, redlock.Declined, redlock.Behind) > 0 && 2*silent < len(e.Nodes)
	return e.Reason != redlock.ErrTaken && !(e.Reason == redlock.ErrNoQuorum && isSplit)
}

// review finds out which calls must look: the first that waits of each client, unless it is asking or its client has all
// permits. It notes what was lost, too.
func (p *permits) review() {
	for _, g := range p.leases.held {
		if _, is := p.lost[g]; !is && g.release == nil && g.Context().Err() != nil {
			p.lost[g] = p.World.Kernel.Now()
		}
	}
	for i, w := range p.open {
		isBehind := slices.ContainsFunc(p.open[:i], func(o *seeker) bool { return o.Waits && o.isWithin(w) })
		certain, perhaps := p.heldBy(w)
		switch {
		case isBehind || !w.Waits || w.All || w.isAsking || w.isGiven || len(certain)+len(perhaps) == w.Permits:
			w.idle = time.Time{}
		case w.idle.IsZero():
			w.idle, w.since = p.clock(w.Client), p.World.Kernel.Now()
		}
	}
}

// isLate judges whether a call that waits has looked in time: a retry delay after its last look, and after a pause for others
// that is a quarter longer.
func (p *permits) isLate(w *seeker) {
	if w.idle.IsZero() || !p.timed || !p.standstills.hasRun(p.World.Client(w.Client), w.since) {
		return
	}
	if idle := p.clock(w.Client).Sub(w.idle); idle > p.delay*9/4+rounding && w.Context.Err() == nil {
		p.brokenOf(checker.NeedlesslyUnavailable, w.wants()[0], "%s waits for a permit of %q, and has not looked for one for %v", w.Client, w.Semaphore, idle)
	}
}

// mustKnow says whether a call must know that something was lost: it takes its tasks some steps to tell each other, and in the
// same moment anything may come first.
func (p *permits) mustKnow(g *granted) bool {
	const steps = 8
	lost, is := p.lost[g]
	return is && p.World.Kernel.Now().Sub(lost) > steps*p.step(g.by.client) && p.standstills.hasRun(g.by.client, lost)
}

// begins judges whether a call that begins its work has everything.
func (p *permits) begins(e protocols.AllBegun) {
	w := p.of(e.PermitCall)
	if w == nil {
		return
	}
	w.work, w.isWorking = e.In, true
	for _, resource := range w.wants() {
		has := func(g *granted) bool {
			return g.by.Permit == w.PermitCall && g.by.Resources[0] == resource && g.release == nil && !p.mustKnow(g)
		}
		if !slices.ContainsFunc(p.leases.held, has) {
			p.broken(resource, "%s works under all permits of %q, and has not got %q", w.Client, w.Semaphore, resource)
		}
	}
}

// ends judges what the work was told by its context, at its end.
func (p *permits) ends(e protocols.AllDone) {
	w := p.of(e.PermitCall)
	if w == nil {
		return
	}
	w.isWorking, w.err = false, e.Err
	lost, isOver := "", false
	for _, g := range p.leases.held {
		if g.by.Permit != w.PermitCall {
			continue
		}
		if isOver = isOver || g.Context().Err() != nil; p.mustKnow(g) {
			lost = g.by.Resources[0]
		}
	}
	isTold, isCalledOff, wrong := w.work.Err() != nil, w.Context.Err() != nil, ""
	switch {
	case lost != "" && (!isTold || !isCalledOff && context.Cause(w.work) != redlock.ErrLost):
		wrong = "is not told that it has lost " + lost
	case isCalledOff && !isTold:
		wrong = "is not told that its call is to end"
	case isTold && !isCalledOff && !isOver:
		wrong = "is told to stop for no reason"
	}
	if wrong != "" {
		p.broken(w.wants()[0], "%s works under all permits of %q, and %s", w.Client, w.Semaphore, wrong)
	}
}

// gets judges what a call returned, and what it leaves behind.
func (p *permits) gets(c *protocols.PermitCall, err error) {
	w := p.of(c)
	if w == nil {
		return
	}
	p.isLate(w)
	isOver := w.Context.Err() != nil || p.calls.closed(w.Client) > 0 // perhaps between two permits
	isWholeLook := w.isCut || len(w.asked)+len(w.away) >= w.Permits || !w.Waits && !isOver
	if !w.All && err != nil && isWholeLook {
		p.completes(w)
	}
	p.open = slices.DeleteFunc(p.open, func(o *seeker) bool { return o == w })
	p.judged++
	wrong := p.wrong(w, err)
	switch {
	case w.All && w.work != nil:
		p.Watched[checker.AllPermitsHeld]++
		wrong = w.wrongOfWork(err)
	case !w.All && err == nil:
		p.Watched[checker.PermitGranted]++
	}
	if wrong != "" {
		p.broken(w.wants()[0], "%s calls for permits of %q, and gets %q: %s", w.Client, w.Semaphore, text(err), wrong)
	}
	for _, g := range p.leases.held {
		if g.by.Permit == c && w.All {
			p.broken(g.by.Resources[0], "%s's call for all permits of %q has returned, and still has %q", w.Client, w.Semaphore, g.by.Resources[0])
		}
	}
	p.review()
}

// wrongOfWork says what is wrong with what a call returned that has done its work; empty if nothing is.
func (w *seeker) wrongOfWork(err error) string {
	switch {
	case w.err != nil && !errors.Is(err, w.err):
		return "that is not what its work returned"
	case w.isLost && !errors.Is(err, redlock.ErrLost):
		return "that does not say that a permit was lost"
	case err != nil && w.err == nil && !w.isLost && !w.isUnreleased:
		return "the work was done, and everything was given back"
	}
	return ""
}

// wrong says what is wrong with what a call returned that has done no work; empty if nothing is.
func (p *permits) wrong(w *seeker, err error) string {
	e, isError := errors.AsType[*redlock.Error](err)
	isClosed := errors.Is(err, redlock.ErrClosed) && p.calls.closed(w.Client) > 0
	switch {
	case err == nil && (!w.isGiven || w.All):
		return "it has not got that"
	case err == nil:
		return ""
	case w.isGiven && !w.All:
		return "an attempt was granted"
	case isClosed && (!isError || e.Op == driver.OpRelease): // perhaps joined with what came of giving back
		return ""
	case !isError:
		return "that is no error of the library"
	case e.Resource != w.Semaphore && !w.isLost:
		return "it is about something else"
	case e.Reason == nil && e.Cause == nil || w.Waits && !w.All && e.Cause == nil:
		return "that does not say why it gave up"
	case e.Cause != nil && !w.isLost && errors.Is(e.Cause, context.Canceled) && w.Context.Err() == nil:
		return "nothing has ended it"
	}
	return ""
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
