package monitor

import (
	"context"
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// A call for all permits of a semaphore takes the lock that only such calls take, then all permits at the same time, and works
// while it has everything. Each is taken by a Lock, which the other monitors judge.

// writer is what is known of such a call.
type writer struct {
	isAlone   bool        // no other such call can go on
	since     kernel.True // when it was granted that
	work      context.Context
	isWorking bool  // its work has begun, and has not returned
	err       error // that the work returned
	isLost    bool  // a permit was lost while it was held
	unsure    bool  // a release of a permit has failed
}

// asksFor takes an attempt for a permit by a call for all.
func (x *permits) asksFor(w *seeker, c *protocols.Call) {
	resource, alone := c.Resources[0], protocols.AllOf(w.Semaphore)
	switch late := x.run.World.Kernel.Now().Sub(w.writer.since); {
	case !slices.Contains(w.everything(), resource):
		x.run.broken(checker.Conduct, resource, "%s asks for the lock on %q for all permits of %q, which has %d", w.Client, resource, w.Semaphore, w.Permits)
	case slices.Contains(w.looked, resource):
		x.run.broken(checker.Conduct, resource, "%s asks for all permits of %q, and for %q twice", w.Client, w.Semaphore, resource)
	case c.TTL != w.TTL:
		x.run.broken(checker.Conduct, resource, "%s asks for a permit of %q for %v, and is to have it for %v", w.Client, w.Semaphore, c.TTL, w.TTL)
	case resource != alone && !w.isAlone:
		x.run.broken(checker.Conduct, resource, "%s asks for %q before it has %q, and another that wants all permits could have the one and wait for the other",
			w.Client, resource, alone)
	case w.isAlone && x.timed && late > rounding && x.run.pauses.hasRun(x.run.World.Client(w.Client), w.writer.since):
		x.run.broken(checker.NeedlesslyUnavailable, resource, "%s has had %q for %v before it asks for %q", w.Client, alone, late, resource)
	}
	w.looked = append(w.looked, resource)
	w.attempts++
}

// everything is the resources that such a call takes.
func (w *seeker) everything() []string { return append(w.all(), protocols.AllOf(w.Semaphore)) }

// isGranted takes that one of them is granted to such a call.
func (x *permits) isGranted(w *seeker, resource string) {
	if resource == protocols.AllOf(w.Semaphore) {
		w.isAlone, w.writer.since = true, x.run.World.Kernel.Now()
	}
}

// begins judges whether a call that begins its work has all permits.
func (x *permits) begins(c *protocols.PermitCall, work context.Context) {
	w := x.call(c)
	if w == nil {
		return
	}
	w.work, w.isWorking = work, true
	for _, resource := range w.everything() {
		has := func(g given) bool {
			return g.seeker == w && g.resource == resource && !g.isEnding && g.lease.Context().Err() == nil
		}
		if !slices.ContainsFunc(x.held, has) {
			x.run.broken(checker.Contract, resource, "%s works under all permits of %q, and has not got %q", w.Client, w.Semaphore, resource)
		}
	}
}

// ends judges what the work was told by its context, at its end.
func (x *permits) ends(c *protocols.PermitCall, err error) {
	w := x.call(c)
	if w == nil {
		return
	}
	w.isWorking, w.err = false, err
	lost := ""
	for _, g := range x.held {
		if g.seeker == w && g.lease.Context().Err() != nil {
			lost = g.resource
		}
	}
	over, called := w.work.Err() != nil, w.Context.Err() != nil
	switch {
	case lost != "" && !over:
		x.run.broken(checker.Contract, lost, "%s works under all permits of %q, and is not told that it has lost %q", w.Client, w.Semaphore, lost)
	case called && !over:
		x.run.broken(checker.Contract, w.all()[0], "%s works under all permits of %q, and is not told that its call is to end", w.Client, w.Semaphore)
	case over && !called && lost == "":
		x.run.broken(checker.Contract, w.all()[0], "%s works under all permits of %q, and is told to stop for no reason", w.Client, w.Semaphore)
	}
}

// givesEarly judges a permit that a call for all gives back.
func (x *permits) givesEarly(g given) {
	if g.isWorking {
		x.run.broken(checker.Contract, g.resource, "%s works under all permits of %q, and gives back %q meanwhile", g.Client, g.Semaphore, g.resource)
	}
}

// gaveBack takes what came of giving a permit back.
func (w *seeker) gaveBack(lease protocols.Lease, err error) {
	w.isLost = w.isLost || errors.Is(err, redlock.ErrLost) || context.Cause(lease.Context()) == redlock.ErrLost
	w.unsure = w.unsure || err != nil
}

// getsAll judges what a call for all returned.
func (x *permits) getsAll(w *seeker, err error) {
	first := w.all()[0]
	if i := slices.IndexFunc(x.held, func(g given) bool { return g.seeker == w }); i >= 0 {
		x.run.broken(checker.Contract, x.held[i].resource, "%s's call for all permits of %q has returned, and still has %q", w.Client, w.Semaphore, x.held[i].resource)
	}
	if n := kernel.Derived(w.Context); n > 0 {
		x.run.broken(checker.Contract, first, "%s's call for all permits of %q has returned, and leaves contexts behind that hang on its own: %d",
			w.Client, w.Semaphore, n)
	}
	if w.work != nil {
		x.run.AllHeld++
	}
	if wrong := x.wrongOfAll(w, err); wrong != "" {
		x.run.broken(checker.Contract, first, "%s asks for all permits of %q, and gets %v: %s", w.Client, w.Semaphore, result(err), wrong)
	}
}

// wrongOfAll says what is wrong with what such a call returned; empty if nothing is.
func (x *permits) wrongOfAll(w *seeker, err error) string {
	e := (*redlock.Error)(nil)
	isError := errors.As(err, &e)
	switch {
	case w.work != nil && w.err != nil && !errors.Is(err, w.err):
		return "that is not what its work returned"
	case w.work != nil && w.isLost && !errors.Is(err, redlock.ErrLost):
		return "that does not say that a permit was lost"
	case w.work != nil && err != nil && w.err == nil && !w.isLost && !w.unsure:
		return "the work was done, and all permits were given back"
	case w.work != nil:
		return ""
	case err == nil:
		return "it has not done its work"
	case !isError && errors.Is(err, redlock.ErrClosed) && x.run.clients.anyClosed(w.Client):
		return ""
	case !isError:
		return "that is not what a lock returns"
	case e.Resource != w.Semaphore:
		return "that is about " + e.Resource
	}
	return ""
}
