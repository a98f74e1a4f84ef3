package rules

import (
	"context"
	"errors"
	"testing"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// losesBefore has a lease lost before its work returns an error.
func losesBefore(l *lease, w *protocols.Work, err error) {
	l.cancel(redlock.ErrLost)
	w.Err, w.Lost = err, true
}

// What is returned after work under a lease tells of the work, of the loss of the lease and of the release, and of nothing
// else.
func TestWhatWorkUnderALeaseReturns(t *testing.T) {
	stopped := errors.New("stopped")
	lost := &redlock.Error{Op: driver.OpExtend, Resource: "r", Reason: redlock.ErrLost}
	unreleased := &redlock.Error{Op: driver.OpRelease, Resource: "r", Reason: redlock.ErrNoQuorum}
	gone := &redlock.Error{Op: driver.OpRelease, Resource: "r", Reason: redlock.ErrLost}
	loses := func(_ *actor, l *lease, w *protocols.Work) { losesBefore(l, w, stopped) }
	// givesUp has the work itself release the lease, which is lost then.
	givesUp := func(a *actor, l *lease, w *protocols.Work) {
		call := &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"r"}, Grants: []int{1}, Lease: l}
		a.Called(call)
		a.Returned(call, unreleased)
		losesBefore(l, w, nil)
	}
	none := errors.New("there is no release")
	for _, c := range []struct {
		name    string
		works   func(*actor, *lease, *protocols.Work)
		release error // what that of Hold returned
		err     error
		want    string
	}{
		{"done", nil, nil, nil, ""},
		{"not released", nil, none, nil, "nobody released the lock"},
		{"released by the work", nil, redlock.ErrReleased, nil, ""},
		{"released by the work, and lost then", givesUp, redlock.ErrReleased, nil, ""},
		{"release failed", nil, unreleased, unreleased, ""},
		{"release failed in silence", nil, unreleased, nil, "the release failed: "},
		{"release did not fail", nil, nil, unreleased, "no release failed"},
		{"lost", loses, gone, errors.Join(stopped, lost), ""},
		{"lost in silence", loses, gone, stopped, "the lease was lost before the work returned"},
		{"lost, and the work's error forgotten", loses, gone, lost, "the work returned an error"},
		{"not lost", nil, nil, lost, "the lease was not lost"},
		{"lost by a release", nil, gone, gone, ""},
		{"context of the work", func(_ *actor, l *lease, w *protocols.Work) {
			losesBefore(l, w, nil)
			w.Unaware = true
		}, gone, lost, "the context of the lease ended, and that of the work did not"},
		{"work without values", func(_ *actor, _ *lease, w *protocols.Work) { w.Bare = true }, nil, nil, "the context of the work has not the values of the caller's"},
		{"work not stopped", func(_ *actor, _ *lease, w *protocols.Work) { w.Deaf = true }, nil, nil, "the caller's context ended, and that of the work did not"},
		{"work stopped for nothing", func(_ *actor, _ *lease, w *protocols.Work) { w.Misled = true }, nil, stopped, "the context of the work ended, and neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("works") // what becomes of the keys is for others to judge
			r.goes("c1", 0, func(a *actor) {
				l := a.lease("v", a.reads().Add(ttl))
				a.call(protocols.AcquireCall, l, nil, nil)
				w := &protocols.Work{Client: "c1", Resource: "r", Lease: l, Releases: true, Context: context.Background(), TTL: ttl}
				if c.works != nil {
					c.works(a, l, w)
				}
				w.Ended = true
				a.Stops(w)
				if c.release != none {
					call := &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"r"}, Grants: []int{1}, Lease: l}
					l.cancel(redlock.ErrReleased)
					a.Called(call)
					a.Returned(call, c.release)
				}
				a.Worked(w, c.err)
			})
			want := ""
			if c.want != "" {
				want = "c1 worked under the lock, and is told what is not true, as " + c.want
			}
			r.finds(t, checker.Contract, want)
		})
	}
}

// Work that panics does so in its call as well, which releases the lock all the same.
func TestWorkThatPanics(t *testing.T) {
	for _, c := range []struct {
		name                     string
		caught, released, isDeaf bool
		want                     string
	}{
		{"released", true, true, false, ""},
		{"not released", true, false, false, "nobody released the lock"},
		{"swallowed", false, true, false, "its call returned all the same"},
		{"not stopped", true, true, true, "the caller's context ended, and that of the work did not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("works")
			r.goes("c1", 0, func(a *actor) {
				l := a.lease("v", a.reads().Add(ttl))
				a.call(protocols.AcquireCall, l, nil, nil)
				w := &protocols.Work{Client: "c1", Resource: "r", Lease: l, Releases: true, Panics: true, Context: context.Background(), TTL: ttl}
				w.Ended, w.Deaf, w.Caught = true, c.isDeaf, c.caught
				a.Stops(w)
				if c.released {
					a.call(protocols.ReleaseCall, l, nil, nil)
				}
				a.Worked(w, nil)
			})
			want := ""
			if c.want != "" {
				want = "c1 worked under the lock until it panicked, and " + c.want
			}
			r.finds(t, checker.Contract, want)
		})
	}
}
