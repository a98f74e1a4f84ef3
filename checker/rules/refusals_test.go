package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// Calls that must be refused: of a closed client, in a context that has ended, about a lease that was
// released.
func TestCallsThatCannotSucceed(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	acquire := &redlock.Error{Op: driver.OpAcquire, Cause: context.Canceled}
	extend := func(reason, cause error) error {
		return &redlock.Error{Op: driver.OpExtend, Reason: reason, Cause: cause}
	}
	release := func(reason, cause error) error {
		return &redlock.Error{Op: driver.OpRelease, Reason: reason, Cause: cause}
	}
	closes := []protocols.CallFunc{protocols.CloseCall}
	another := []protocols.CallFunc{protocols.CloseCall, protocols.NewClientCall}
	releases := []protocols.CallFunc{protocols.ReleaseCall}
	for _, c := range []struct {
		name    string
		before  []protocols.CallFunc
		f       protocols.CallFunc
		ctx     context.Context
		err     error
		isRight bool
	}{
		{"acquire", nil, protocols.AcquireCall, context.Background(), errors.New("for any reason"), true},
		{"acquire of a closed client", closes, protocols.AcquireCall, nil, redlock.ErrClosed, true},
		{"acquire of a closed client, taken", closes, protocols.AcquireCall, nil, &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}, false},
		{"acquire of a closed client whose context has ended", closes, protocols.AcquireCall, ended, acquire, false},
		{"acquire of the next client", another, protocols.AcquireCall, nil, &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}, true},
		{"acquire in an ended context", nil, protocols.AcquireCall, ended, acquire, true},
		{"acquire in an ended context, without its error", nil, protocols.AcquireCall, ended, &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}, false},
		{"extend of a closed client", closes, protocols.ExtendCall, nil, redlock.ErrClosed, true},
		{"extend of a closed client, lost", closes, protocols.ExtendCall, nil, extend(redlock.ErrLost, nil), false},
		{"extend of the client before", another, protocols.ExtendCall, nil, nil, false},
		{"extend of a released lease", releases, protocols.ExtendCall, nil, extend(redlock.ErrReleased, nil), true},
		{"extend of a released lease, lost", releases, protocols.ExtendCall, nil, extend(redlock.ErrLost, nil), false},
		{"extend in an ended context", nil, protocols.ExtendCall, ended, extend(nil, context.Canceled), true},
		{"extend in an ended context, lost", nil, protocols.ExtendCall, ended, extend(redlock.ErrLost, nil), true},
		{"extend in an ended context, no quorum", nil, protocols.ExtendCall, ended, extend(redlock.ErrNoQuorum, nil), false},
		{"second release", releases, protocols.ReleaseCall, nil, release(redlock.ErrReleased, nil), true},
		{"second release, lost", releases, protocols.ReleaseCall, nil, release(redlock.ErrLost, nil), false},
		{"release in an ended context", nil, protocols.ReleaseCall, ended, release(nil, context.Canceled), true},
		{"release in an ended context, no quorum", nil, protocols.ReleaseCall, ended, release(redlock.ErrNoQuorum, nil), false},
		// Nothing but the end of its context makes a Close fail.
		{"close", nil, protocols.CloseCall, ended, nil, true},
		{"close whose context has ended", nil, protocols.CloseCall, ended, context.Canceled, true},
		{"close with another error than its context's", nil, protocols.CloseCall, ended, context.DeadlineExceeded, false},
		{"close whose context goes on", nil, protocols.CloseCall, context.Background(), context.Canceled, false},
		{"close of what is closed", nil, protocols.CloseCall, nil, redlock.ErrClosed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("refusals")
			r.goes("c1", time.Second, func(a *actor) {
				l := a.acquires("ABC", "v")
				for _, f := range c.before {
					a.call(f, l, nil, nil)
				}
				call := &protocols.Call{Func: c.f, Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Context: c.ctx}
				if c.f == protocols.ExtendCall || c.f == protocols.ReleaseCall {
					call.Lease = l
				}
				a.Called(call)
				a.Returned(call, c.err)
				l.cancel(redlock.ErrLost)
			})
			want := "c1: "
			if c.isRight {
				want = ""
			}
			r.finds(t, checker.Contract, want)
		})
	}
}

// No attempt and no extend begins once all clients of a process were closed, and no vote is asked for.
func TestNothingBeginsAfterClose(t *testing.T) {
	tell(t, checker.Contract, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"nothing", "close; 1s", ""},
		{"an attempt", "close; 1s; step attempt-started w", "c1 reports the step attempt-started after the client was closed"},
		{"an extend", "close; 1s; step extend-started v", "c1 reports the step extend-started after the client was closed"},
		{"a vote", "close; 1s; SET r w on A", "c1 still asks A for its vote"},
		{"a vote for the client in its place", "closing; new-client; returns; 1s; SET r w on A; step attempt-started w", ""},
		{"a vote for the client before", "new-client; close; 1s; SET r w on A", ""},
		{"a vote for neither", "close; new-client; close; 1s; SET r w on A", "c1 still asks A for its vote, but was closed before"},
	})
}

// Acquires and extends with a TTL above the restart guard's are refused, however often they are made.
func TestATTLAboveTheGuards(t *testing.T) {
	for _, c := range []struct {
		name string
		f    protocols.CallFunc
		ttl  time.Duration
		err  error
		want string
	}{
		{"acquire", protocols.AcquireCall, ttl + time.Millisecond, redlock.ErrInvalid, ""},
		{"acquire that is granted", protocols.AcquireCall, ttl + time.Millisecond, nil, "c1: acquire with a TTL above that of the restart guard returns"},
		{"extend", protocols.ExtendCall, ttl + time.Millisecond, redlock.ErrInvalid, ""},
		{"extend that is made", protocols.ExtendCall, ttl + time.Millisecond, nil, "c1: extend with a TTL above that of the restart guard returns"},
		{"extend by the largest TTL", protocols.ExtendCall, ttl, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: ttl} }).only("refusals")
			r.goes("c1", time.Second, func(a *actor) {
				l := a.acquires("ABC", "v")
				call := &protocols.Call{Func: c.f, Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: c.ttl}
				if c.f == protocols.ExtendCall {
					call.Lease = l
				}
				a.Called(call)
				a.Returned(call, c.err)
				l.cancel(redlock.ErrLost)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
