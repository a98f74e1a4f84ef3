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

// works judges what is returned by a call that renews a lease while work is done under it.
type works struct {
	run  *Run
	open []*working
}

// working is such a call that has not returned.
type working struct {
	*protocols.Work
	renewed int   // how often
	failed  error // of the last renewal, if that failed while the lease and the work went on
	// found is the error of the renewal in which the nodes said that the lease is lost, while the work went on.
	found *redlock.Error
	// isShared says that another call renews the lease as well, so that nobody knows which of them has renewed it.
	isShared bool
	// isGivenUp says that somebody released the lease before the work returned.
	isGivenUp  bool
	isReleased bool
	release    error // that the release returned
}

func watchWorks(r *Run) {
	if !r.isLibrary() {
		return
	}
	x := &works{run: r}
	r.onCall(x.called)
	r.onReturn(x.returned)
	trace.On(r.World.Events, x.works)
	r.onWorked(x.worked)
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(w *working) bool { return w.Client == client })
	})
}

func (x *works) works(w protocols.WorkBegun) {
	this := &working{Work: w.Work}
	for _, other := range x.open {
		if other.Lease == w.Lease {
			this.isShared, other.isShared = true, true
		}
	}
	x.open = append(x.open, this)
}

func (x *works) called(c *protocols.Call) {
	for _, w := range x.open {
		if w.Lease == c.Lease && c.Func == protocols.ReleaseCall && !w.Ended {
			w.isGivenUp = true
		}
	}
}

func (x *works) returned(c *protocols.Call, err error) {
	for _, w := range x.open {
		switch {
		case w.Lease != c.Lease:
		case c.Func == protocols.ReleaseCall:
			w.isReleased, w.release = true, err
		case c.Func == protocols.ExtendCall && c.Renewal && err == nil:
			w.renewed, w.failed = w.renewed+1, nil
		case c.Func == protocols.ExtendCall && c.Renewal && x.isFound(err): // also when the work has ended: Renew waits for it
			w.failed = nil // it is told as what it found
			errors.As(err, &w.found)
		case c.Func == protocols.ExtendCall && c.Renewal && !w.Ended && w.Lease.Context().Err() == nil:
			w.failed = err
		}
	}
}

func (x *works) worked(done *protocols.Work, err error) {
	i := slices.IndexFunc(x.open, func(w *working) bool { return w.Work == done })
	w := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	x.run.Judged[checker.JudgeWorks]++
	if w.Panics && w.Ended {
		if wrong := w.panicked(); wrong != "" {
			x.run.broken(checker.Contract, w.Resource, "%s worked under the lock until it panicked, and %s", w.Client, wrong)
		}
		return
	}
	parts := partsOf(err)
	for _, wrong := range []string{w.work(err), w.loss(err, parts), w.cause(err, x.run.clients.anyClosed(w.Client)), w.ending(err, parts)} {
		if wrong != "" {
			x.run.broken(checker.Contract, w.Resource, "%s worked under the lock, and is told what is not true, as %s: %v", w.Client, wrong, err)
			return
		}
	}
}

// panicked says what is wrong after work that panicked.
func (w *working) panicked() string {
	switch {
	case !w.Caught:
		return "its call returned all the same"
	case w.Releases && !w.isReleased:
		return "nobody released the lock"
	}
	return w.work(w.Err) // but for the error, which nobody is told of
}

// isFound says whether with this error so many nodes refused an extend that the lease was lost by it.
func (x *works) isFound(err error) bool {
	var e *redlock.Error
	if !errors.As(err, &e) || e.Reason != redlock.ErrLost {
		return false
	}
	n := len(x.run.World.Servers)
	q, _ := x.run.Lock.Votes(n)
	return countNodes(e, driver.Declined) > n-q
}

// partsOf are the errors of calls that an error is made of.
func partsOf(err error) (parts []*redlock.Error) {
	switch e := err.(type) {
	case *redlock.Error:
		return []*redlock.Error{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			parts = append(parts, partsOf(part)...)
		}
	}
	return parts
}

// isAbout says whether one of the parts is about an operation.
func isAbout(parts []*redlock.Error, op driver.Op) bool {
	return slices.ContainsFunc(parts, func(e *redlock.Error) bool { return e.Op == op })
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
func (w *working) loss(err error, parts []*redlock.Error) string {
	isTold := isAbout(parts, driver.OpExtend) && errors.Is(err, redlock.ErrLost)
	switch {
	case w.Lost && !w.isGivenUp && !isTold:
		return "the lease was lost before the work returned"
	case w.found != nil && !w.isShared && !w.isGivenUp && !slices.Contains(parts, w.found):
		return "its last renewal failed, as the nodes had lost the lease: " + w.found.Error()
	case isTold && context.Cause(w.Lease.Context()) != redlock.ErrLost:
		return "the lease was not lost"
	}
	return ""
}

// cause says what is wrong with why the lease was lost.
func (w *working) cause(err error, isClosed bool) string {
	limit := limitOf(w.Work)
	isLimit, isLimited := errors.Is(err, redlock.ErrRenewalLimit), limit > 0 && w.renewed >= limit
	var failed *redlock.Error
	switch {
	case w.isShared:
	case isLimit && !isLimited && w.MaxTime == 0:
		return "no limit of renewals was reached"
	case w.Lost && !w.isGivenUp && isLimited && !isLimit:
		return "the limit of renewals was reached"
	case errors.Is(err, redlock.ErrClosed): // which ends renewals, also after one that failed
		if !isClosed {
			return "nobody closed the client"
		}
	case w.Lost && !w.isGivenUp && !isLimit && errors.As(w.failed, &failed) && failed.Reason != nil && !errors.Is(err, failed.Reason):
		return "the last renewal failed: " + failed.Reason.Error()
	}
	return ""
}

// ending says what is wrong with what is told of the release.
func (w *working) ending(err error, parts []*redlock.Error) string {
	isTold := isAbout(parts, driver.OpRelease)
	failed := w.release != nil && !errors.Is(w.release, redlock.ErrReleased)
	isKnown := errors.Is(w.release, redlock.ErrLost) && errors.Is(err, redlock.ErrLost) // it was lost before
	switch {
	case isTold && !(w.Releases && failed):
		return "no release failed"
	case isTold && isKnown && !w.isGivenUp && slices.ContainsFunc(parts, func(e *redlock.Error) bool { return e.Op == driver.OpExtend && errors.Is(e, redlock.ErrLost) }):
		return "the loss is told twice"
	case w.Releases && !w.isReleased:
		return "nobody released the lock"
	case w.Releases && failed && !isTold && !isKnown:
		return "the release failed: " + w.release.Error()
	}
	return ""
}

// limitOf is how often a lease can be renewed for work at the most, 0 for as often as it takes: without any limit given, as
// often as the library documents.
func limitOf(w *protocols.Work) int {
	if w.Limit == 0 && w.MaxTime == 0 {
		return 1000
	}
	return max(w.Limit, 0)
}
