package rules

import (
	"context"
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/trace"
)

var worksRule = Rule{
	Name:  "works",
	Kind:  checker.Contract,
	Needs: "work under a lock, and what its call returned",
	Doc: `
Hold and Renew return the error of the work, the loss of the lease if it was lost before the work returned, and the error of
the release, and nothing else. The context of the work ends with that of the lease and with that of the call, and not before.
(*redlock*.)`,
	New: watchWorks,
}

// works judges what is returned by a call that renews a lease while work is done under it.
type works struct {
	*watch
	givenUp map[*protocols.Work]bool // the lease of which somebody had released before the work returned
}

// working is such a call that has returned.
type working struct {
	*protocols.Work
	*granted
	isGivenUp bool
}

func watchWorks(r *watch) {
	if !r.isLibrary() {
		return
	}
	x := &works{r, map[*protocols.Work]bool{}}
	trace.On(r.World.Events, func(w protocols.WorkDone) { x.givenUp[w.Work] = r.leases.of[w.Lease].release != nil })
	trace.On(r.World.Events, func(w protocols.WorkReturned) { x.worked(w.Work, w.Err) })
}

func (x *works) worked(done *protocols.Work, err error) {
	w := &working{done, x.leases.of[done.Lease], x.givenUp[done]}
	x.judged++
	if w.Panics && w.Ended {
		if wrong := w.panicked(); wrong != "" {
			x.broken(w.Resource, "%s worked under the lock until it panicked, and %s", w.Client, wrong)
		}
		return
	}
	for _, wrong := range []string{w.work(err), w.loss(err), w.ending(err)} {
		if wrong != "" {
			x.broken(w.Resource, "%s worked under the lock, and is told what is not true, as %s: %v", w.Client, wrong, err)
			return
		}
	}
}

// panicked says what is wrong after work that panicked.
func (w *working) panicked() string {
	switch {
	case !w.Caught:
		return "its call returned all the same"
	case w.Releases && !w.isBack:
		return "nobody released the lock"
	}
	return w.work(w.Err) // but for the error, which nobody is told of
}

// work says what is wrong for the work itself; empty if nothing is.
func (w *working) work(err error) string {
	switch {
	case w.Unaware:
		return "the context of the lease ended, and that of the work did not"
	case w.Deaf:
		return "the caller's context ended, and that of the work did not"
	case w.Bare:
		return "the context of the work has not the values of the caller's"
	case w.Misled:
		return "the context of the work ended, and neither that of the lease nor the caller's did"
	case w.Err != nil && !errors.Is(err, w.Err):
		return "the work returned an error"
	}
	return ""
}

// loss says what is wrong with what is told of the loss of the lease, which only an error about an extend tells.
func (w *working) loss(err error) string {
	switch isTold := isAbout(err, driver.OpExtend) && errors.Is(err, redlock.ErrLost); {
	case w.Lost && !w.isGivenUp && !isTold:
		return "the lease was lost before the work returned"
	case isTold && context.Cause(w.Work.Lease.Context()) != redlock.ErrLost:
		return "the lease was not lost"
	}
	return ""
}

// ending says what is wrong with what is told of the release.
func (w *working) ending(err error) string {
	isTold := isAbout(err, driver.OpRelease)
	failed := w.gave != nil && !errors.Is(w.gave, redlock.ErrReleased)
	isKnown := errors.Is(w.gave, redlock.ErrLost) && errors.Is(err, redlock.ErrLost) // it was lost before
	switch {
	case isTold && !(w.Releases && failed):
		return "no release failed"
	case w.Releases && !w.isBack:
		return "nobody released the lock"
	case w.Releases && failed && !isTold && !isKnown:
		return "the release failed: " + w.gave.Error()
	}
	return ""
}

// isAbout says whether one of the errors that an error is made of is about an operation.
func isAbout(err error, op driver.Op) bool {
	switch e := err.(type) {
	case *redlock.Error:
		return e.Op == op
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(part error) bool { return isAbout(part, op) })
	}
	return false
}
