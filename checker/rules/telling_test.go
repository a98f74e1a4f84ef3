package rules

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// TestCallsTellOfTheirEnd: what a call returns was told as the end of a call before. A client that tells nothing is not judged.
func TestCallsTellOfTheirEnd(t *testing.T) {
	asked := []observe.NodeOutcome{{Node: "A", Outcome: driver.Declined}}
	failed := func(op driver.Op, why error) error {
		return &redlock.Error{Op: op, Resource: "r", Attempts: 1, Nodes: asked, Reason: why}
	}
	unasked := func(op driver.Op, why error) error { return &redlock.Error{Op: op, Resource: "r", Reason: why} }
	until := time.Unix(10, 0)
	step := func(s observe.Step, e observe.Event) observe.Event {
		e.Step, e.Resource, e.Value = s, "r", cmp.Or(e.Value, "v")
		if s == observe.Granted || s == observe.Extended {
			e.Until = until.Add(e.Validity)
		}
		return e
	}
	told := func(s observe.Step, err error) observe.Event { return step(s, observe.Event{Err: err}) }
	begins := step(observe.AttemptStarted, observe.Event{})
	granted, released, lost := told(observe.Granted, nil), told(observe.ReleaseStarted, nil), told(observe.Lost, nil)
	taken, gone, over := failed(driver.OpAcquire, redlock.ErrTaken), failed(driver.OpExtend, redlock.ErrLost), failed(driver.OpRelease, redlock.ErrNoQuorum)
	for _, c := range []struct {
		name  string
		steps []observe.Event
		call  protocols.CallFunc
		err   error
		want  string
	}{
		{"grant", []observe.Event{begins, granted}, protocols.AcquireCall, nil, ""},
		{"untold grant", []observe.Event{begins}, protocols.AcquireCall, nil, "c1's acquire was granted, and has not told so"},
		{"of another value", []observe.Event{step(observe.Granted, observe.Event{Value: "w"})}, protocols.AcquireCall, nil,
			"c1's acquire was granted, and has not told so"},
		{"of another token", []observe.Event{step(observe.Granted, observe.Event{Token: 7})}, protocols.AcquireCall, nil,
			"c1's acquire has told of another fencing token"},
		{"of another end", []observe.Event{step(observe.Granted, observe.Event{Validity: 1})}, protocols.AcquireCall, nil,
			"c1's acquire has told of another end of the lease"},
		{"grant that nobody gets", []observe.Event{granted, told(observe.GaveUp, taken)}, protocols.AcquireCall, taken,
			"c1 reports the step granted of a call on r, and no call has returned that"},
		{"refusal", []observe.Event{begins, told(observe.GaveUp, taken)}, protocols.AcquireCall, taken, ""},
		{"untold refusal", []observe.Event{begins}, protocols.AcquireCall, taken, "c1's acquire was refused, and has not told so"},
		{"refusal for another reason", []observe.Event{begins, told(observe.GaveUp, over)}, protocols.AcquireCall, taken,
			"c1's acquire was refused, and has not told so"},
		{"no attempt", []observe.Event{lost}, protocols.AcquireCall, unasked(driver.OpAcquire, redlock.ErrTaken), ""},
		{"nothing at all", nil, protocols.AcquireCall, taken, ""},
		{"extend", []observe.Event{told(observe.Extended, nil)}, protocols.ExtendCall, nil, ""},
		{"untold extend", []observe.Event{begins}, protocols.ExtendCall, nil, "c1's extend succeeded, and has not told so"},
		{"extend for longer", []observe.Event{step(observe.Extended, observe.Event{Validity: 1})}, protocols.ExtendCall, nil,
			"c1's extend has told of a later end of the lease"},
		{"failed extend", []observe.Event{told(observe.NotExtended, gone)}, protocols.ExtendCall, gone, ""},
		{"untold failure", []observe.Event{begins}, protocols.ExtendCall, gone, "c1's extend failed, and has not told so"},
		{"extend of a lost lease", []observe.Event{lost}, protocols.ExtendCall, unasked(driver.OpExtend, redlock.ErrLost), ""},
		{"extend of a lease that is not lost", []observe.Event{begins}, protocols.ExtendCall, unasked(driver.OpExtend, redlock.ErrLost),
			"c1's extend says that the lease is over, and nobody was told"},
		{"extend of a lease that is not released", []observe.Event{lost}, protocols.ExtendCall, unasked(driver.OpExtend, redlock.ErrReleased),
			"c1's extend says that the lease is over, and nobody was told"},
		{"release", []observe.Event{released, told(observe.Released, nil)}, protocols.ReleaseCall, nil, ""},
		{"untold release", []observe.Event{released}, protocols.ReleaseCall, nil, "c1's release succeeded, and has not told so"},
		{"release that has failed", []observe.Event{released, told(observe.Released, over)}, protocols.ReleaseCall, nil,
			"c1's release succeeded, and has not told so"},
		{"failed release", []observe.Event{released, told(observe.Released, over)}, protocols.ReleaseCall, over, ""},
		{"second release", []observe.Event{released}, protocols.ReleaseCall, unasked(driver.OpRelease, redlock.ErrReleased), ""},
		{"release without a question", []observe.Event{released}, protocols.ReleaseCall, unasked(driver.OpRelease, redlock.ErrNoQuorum),
			"c1's release asked no node"},
		{"bad arguments", []observe.Event{begins}, protocols.ExtendCall, redlock.ErrInvalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &lease{value: "v", until: until}
			call := &protocols.Call{Func: c.call, Client: "c1", Resources: []string{"r"}}
			if c.call != protocols.AcquireCall {
				call.Lease = l
			}
			tells(t, func(r *rig) {
				r.Called(call)
				for _, e := range c.steps {
					r.Observed("c1", e)
				}
				if c.err == nil {
					call.Lease = l
				}
				r.Returned(call, c.err)
			}, c.want)
		})
	}
}

// tells compares what watchTelling alone finds in what a run is told with the beginning of a sentence. Of a lock of one's own
// it finds nothing.
func tells(t *testing.T, does func(*rig), want string) {
	t.Helper()
	for _, foreign := range []bool{false, true} {
		r := unwatched(t, nil, Run{Lock: protocols.Settings{}.With("redlock"), Resources: []string{"r"}, Foreign: foreign})
		r.watch(watchTelling)
		does(r)
		found := ""
		for _, f := range r.Findings() {
			found += f.Text
		}
		if foreign {
			want = ""
		}
		if !strings.HasPrefix(found, want) || want == "" && found != "" {
			t.Errorf("found %q, want %q (a lock of one's own: %v)", found, want, foreign)
		}
	}
}

// A close that succeeds has waited for the calls that began before it.
func TestACloseWaitsForCalls(t *testing.T) {
	for _, c := range []struct {
		name    string
		first   protocols.CallFunc
		second  protocols.CallFunc
		failure error
		want    string
	}{
		{"extend", protocols.ExtendCall, protocols.CloseCall, nil, "c1's Close has not waited for the extend that is under way"},
		{"another close", protocols.CloseCall, protocols.CloseCall, nil, ""},
		{"later release", protocols.CloseCall, protocols.ReleaseCall, nil, ""},
		{"has not succeeded", protocols.ExtendCall, protocols.CloseCall, context.Canceled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tells(t, func(r *rig) {
				r.Observed("c1", observe.Event{Step: observe.AttemptStarted})
				calls := map[protocols.CallFunc]*protocols.Call{}
				for _, f := range []protocols.CallFunc{c.first, c.second} {
					calls[f] = &protocols.Call{Func: f, Client: "c1", Resources: []string{"r"}}
					r.Called(calls[f])
				}
				r.Returned(calls[protocols.CloseCall], c.failure)
			}, c.want)
		})
	}
}

// A call that waits tells that it gives up, also if it never asked.
func TestCallsThatWaitTellThatTheyGiveUp(t *testing.T) {
	refused := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Cause: context.Canceled}
	// There is an observer.
	other := observe.Event{Step: observe.NodeAnswered, Op: driver.OpPrepare, Node: observe.NodeOutcome{Node: "A", Outcome: driver.Accepted}}
	for _, c := range []struct {
		name  string
		waits time.Duration
		tells []observe.Event
		want  string
	}{
		{"at once", 0, []observe.Event{other}, ""},
		{"later", time.Second, []observe.Event{other, {Step: observe.GaveUp, Resource: "r", Err: refused}}, ""},
		{"later, untold", time.Second, []observe.Event{other}, "c1's acquire was refused, and has not told so"},
		{"nothing at all", time.Second, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchTelling)
			r.goes("c1", 0, func(a *actor) {
				a.call(protocols.AcquireCall, nil, refused, func() {
					a.sleeps(c.waits)
					for _, e := range c.tells {
						a.Observed("c1", e)
					}
				})
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
