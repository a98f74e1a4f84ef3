package monitor

import (
	"context"
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// all judges calls that do work under all permits of a semaphore. Such a call takes the lock that only such calls take, then
// all permits at the same time, and works while it has everything. Each is taken by a Lock, which the other monitors judge.
type all struct {
	run   *Run
	timed bool // code takes no time
	open  []*writer
}

// writer is such a call that has not returned.
type writer struct {
	*protocols.PermitCall
	asked     []string // for what
	isAlone   bool     // it has the lock that only such calls take
	since     kernel.True
	held      []part
	work      context.Context // that of its work; nil if that has not begun
	isWorking bool
	err       error // that the work returned
	isLost    bool  // a lease was lost while it was held
	isUnsure  bool  // a release has failed
}

// part is a lease of such a call that has not been given back.
type part struct {
	resource string
	lease    protocols.Lease
	isEnding bool        // it is being given back
	isLost   bool        // its context has ended before that
	lost     kernel.True // when
}

func watchAll(r *Run) {
	if !r.isLibrary() || !r.Lock.Capabilities().Permits {
		return
	}
	x := &all{run: r, timed: r.StepTime == 0}
	r.onWant(func(c *protocols.PermitCall) {
		if c.All {
			x.open = append(x.open, &writer{PermitCall: c})
		}
	})
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onStep(x.loses, observe.Lost)
	r.onBegin(x.begins)
	r.onDone(x.ends)
	r.onGet(x.gets)
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(w *writer) bool { return w.Client == client })
	})
}

// of is what is known of a call; nil if it is another one, or has crashed with its client.
func (x *all) of(c *protocols.PermitCall) *writer {
	if i := slices.IndexFunc(x.open, func(w *writer) bool { return w.PermitCall == c }); i >= 0 {
		return x.open[i]
	}
	return nil
}

// everything is the resources that a call takes, the lock that only such calls take first.
func (w *writer) everything() []string {
	resources := []string{protocols.AllOf(w.Semaphore)}
	for i := range w.Permits {
		resources = append(resources, protocols.PermitOf(w.Semaphore, i+1))
	}
	return resources
}

// called judges what such a call asks for, and when it gives something back.
func (x *all) called(c *protocols.Call) {
	switch {
	case c.Func == protocols.ReleaseCall:
		x.givesBack(c.Lease)
		return
	case c.Renewal:
		x.renews(c.Lease)
		return
	}
	w := x.of(c.Permit)
	if w == nil {
		return
	}
	x.run.Judged[checker.JudgeForAll]++
	resource, everything := c.Resources[0], w.everything()
	alone := everything[0]
	switch late := x.run.World.Kernel.Now().Sub(w.since); {
	case !slices.Contains(everything, resource):
		x.run.broken(checker.Conduct, resource, "%s asks for the lock on %q for all permits of %q, which has %d", w.Client, resource, w.Semaphore, w.Permits)
	case slices.Contains(w.asked, resource):
		x.run.broken(checker.Conduct, resource, "%s asks for all permits of %q, and for %q twice", w.Client, w.Semaphore, resource)
	case c.TTL != w.TTL:
		x.run.broken(checker.Conduct, resource, "%s asks for a permit of %q for %v, and is to have it for %v", w.Client, w.Semaphore, c.TTL, w.TTL)
	case resource != alone && !w.isAlone:
		x.run.broken(checker.Conduct, resource, "%s asks for %q before it has %q, and another that wants all permits could have the one and wait for the other",
			w.Client, resource, alone)
	case w.isAlone && x.timed && late > 0 && x.run.pauses.hasRun(x.run.World.Client(w.Client), w.since):
		x.run.broken(checker.NeedlesslyUnavailable, resource, "%s has had %q for %v before it asks for %q", w.Client, alone, late, resource)
	}
	w.asked = append(w.asked, resource)
}

// returned takes what such a call was granted, and what came of giving it back.
func (x *all) returned(c *protocols.Call, err error) {
	if c.Func == protocols.ReleaseCall {
		x.gaveBack(c.Lease, err)
		return
	}
	w := x.of(c.Permit)
	if w == nil || err != nil {
		return
	}
	w.held = append(w.held, part{resource: c.Resources[0], lease: c.Lease})
	x.loses(c.Client, nil) // it may have ended meanwhile
	if c.Resources[0] == protocols.AllOf(w.Semaphore) {
		w.isAlone, w.since = true, x.run.World.Kernel.Now()
	}
}

// loses takes the loss of leases.
func (x *all) loses(client string, _ *observe.Event) {
	for _, w := range x.open {
		for i := range w.held {
			if t := &w.held[i]; w.Client == client && !t.isEnding && !t.isLost && t.lease.Context().Err() != nil {
				t.isLost, t.lost = true, x.run.World.Kernel.Now()
			}
		}
	}
}

// mustKnow says whether a call must know that a lease was lost: it takes its tasks some steps to tell each other, and in the
// same moment anything may come first.
func (x *all) mustKnow(w *writer, t part) bool {
	const steps = 8
	client := x.run.World.Client(w.Client)
	return t.isLost && x.run.World.Kernel.Now().Sub(t.lost) > steps*x.run.step(client) && x.run.pauses.hasRun(client, t.lost)
}

// begins judges whether a call that begins its work has everything.
func (x *all) begins(c *protocols.PermitCall, work context.Context) {
	w := x.of(c)
	if w == nil {
		return
	}
	w.work, w.isWorking = work, true
	for _, resource := range w.everything() {
		has := func(t part) bool { return t.resource == resource && !t.isEnding && !x.mustKnow(w, t) }
		if !slices.ContainsFunc(w.held, has) {
			x.run.broken(checker.Contract, resource, "%s works under all permits of %q, and has not got %q", w.Client, w.Semaphore, resource)
		}
	}
}

// ends judges what the work was told by its context, at its end.
func (x *all) ends(c *protocols.PermitCall, err error) {
	w := x.of(c)
	if w == nil {
		return
	}
	x.run.Judged[checker.JudgeUnderAll]++
	w.isWorking, w.err = false, err
	lost, isOver := "", false
	for _, t := range w.held {
		if isOver = isOver || t.lease.Context().Err() != nil; x.mustKnow(w, t) {
			lost = t.resource
		}
	}
	over, called := w.work.Err() != nil, w.Context.Err() != nil
	switch {
	case lost != "" && !over:
		x.run.broken(checker.Contract, lost, "%s works under all permits of %q, and is not told that it has lost %q", w.Client, w.Semaphore, lost)
	case lost != "" && !called && context.Cause(w.work) != redlock.ErrLost:
		x.run.broken(checker.Contract, lost, "%s works under all permits of %q, has lost %q, and is told to stop because of %v", w.Client, w.Semaphore, lost,
			context.Cause(w.work))
	case called && !over:
		x.run.broken(checker.Contract, w.everything()[0], "%s works under all permits of %q, and is not told that its call is to end", w.Client, w.Semaphore)
	case over && !called && !isOver:
		x.run.broken(checker.Contract, w.everything()[0], "%s works under all permits of %q, and is told to stop for no reason", w.Client, w.Semaphore)
	}
}

// find is the call that has a lease, and which of its leases that is; nil if none has.
func (x *all) find(lease protocols.Lease) (w *writer, at int) {
	for _, w := range x.open {
		if at := slices.IndexFunc(w.held, func(t part) bool { return t.lease == lease }); at >= 0 {
			return w, at
		}
	}
	return nil, 0
}

// givesBack judges a lease that is given back.
func (x *all) givesBack(lease protocols.Lease) {
	w, at := x.find(lease)
	if w == nil {
		return
	}
	if w.isWorking {
		x.run.broken(checker.Contract, w.held[at].resource, "%s works under all permits of %q, and gives back %q meanwhile", w.Client, w.Semaphore, w.held[at].resource)
	}
	w.held[at].isEnding = true
	w.isLost = w.isLost || context.Cause(lease.Context()) == redlock.ErrLost
}

// renews judges the renewal of a permit: there is none once the work is told to stop.
func (x *all) renews(lease protocols.Lease) {
	w, at := x.find(lease)
	if w == nil || !w.isWorking || w.held[at].resource == protocols.AllOf(w.Semaphore) {
		return
	}
	x.run.Judged[checker.JudgeStops]++
	if w.work.Err() != nil {
		x.run.broken(checker.Conduct, w.held[at].resource, "%s goes on to renew %q, although its work under all permits of %q is told to stop",
			w.Client, w.held[at].resource, w.Semaphore)
	}
}

// gaveBack takes what came of giving a lease back.
func (x *all) gaveBack(lease protocols.Lease, err error) {
	w, at := x.find(lease)
	if w == nil {
		return
	}
	w.held = slices.Delete(w.held, at, at+1)
	w.isLost = w.isLost || errors.Is(err, redlock.ErrLost)
	w.isUnsure = w.isUnsure || err != nil
}

// gets judges what such a call returned.
func (x *all) gets(c *protocols.PermitCall, err error) {
	w := x.of(c)
	if w == nil {
		return
	}
	x.open = slices.DeleteFunc(x.open, func(o *writer) bool { return o == w })
	x.run.Judged[checker.JudgeAll]++
	first := w.everything()[0]
	for _, t := range w.held {
		x.run.broken(checker.Contract, t.resource, "%s's call for all permits of %q has returned, and still has %q", w.Client, w.Semaphore, t.resource)
	}
	if n := kernel.Derived(w.Context); n > 0 {
		x.run.broken(checker.Contract, first, "%s's call for all permits of %q has returned, and leaves contexts behind that hang on its own: %d",
			w.Client, w.Semaphore, n)
	}
	if w.work != nil {
		x.run.AllHeld++
	}
	if wrong := x.wrong(w, err); wrong != "" {
		x.run.broken(checker.Contract, first, "%s calls for all permits of %q, and gets %v: %s", w.Client, w.Semaphore, err, wrong)
	}
}

// wrong says what is wrong with what such a call returned; empty if nothing is.
func (x *all) wrong(w *writer, err error) string {
	e := (*redlock.Error)(nil)
	isError := errors.As(err, &e)
	switch {
	case w.work != nil && w.err != nil && !errors.Is(err, w.err):
		return "that is not what its work returned"
	case w.work != nil && w.isLost && !errors.Is(err, redlock.ErrLost):
		return "that does not say that a permit was lost"
	case w.work != nil && err != nil && w.err == nil && !w.isLost && !w.isUnsure:
		return "the work was done, and everything was given back"
	case w.work != nil:
		return ""
	case err == nil:
		return "its work has not been done"
	case errors.Is(err, redlock.ErrClosed) && x.run.clients.anyClosed(w.Client) && (!isError || e.Op == driver.OpRelease):
		return "" // perhaps joined with what giving back came to
	case !isError:
		return "that is not what a lock returns"
	case e.Reason == nil && e.Cause == nil:
		return "that does not say why"
	case e.Resource != w.Semaphore && !w.isLost:
		return "that is about " + e.Resource
	case errors.Is(e.Cause, context.Canceled) && w.Context.Err() == nil && !w.isLost:
		return "nothing has ended it"
	}
	return ""
}
