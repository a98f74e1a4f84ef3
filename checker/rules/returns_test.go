package rules

import (
	"context"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// Calls return when their contexts end or their client is closed, and within the node timeouts that they are documented to
// take. The node timeout of the rig is 50 ms.
func TestCallsReturnInTime(t *testing.T) {
	fenced := func(own *protocols.RedlockSettings) { own.Fencing = true }
	after := func(d time.Duration, cause error) func(*actor) context.Context {
		return func(a *actor) context.Context {
			ctx, cancel := a.client.ProgramClock().WithCancel(context.Background())
			a.client.ProgramClock().AfterFunc(d, func() { cancel(cause) })
			return ctx
		}
	}
	within := func(d time.Duration) func(*actor) context.Context {
		return func(a *actor) context.Context {
			return deadlined{after(1, redlock.ErrReleased)(a), a.reads().Add(d)}
		}
	}
	const long = time.Second
	for _, c := range []struct {
		name    string
		call    protocols.Call
		context func(*actor) context.Context
		change  func(*protocols.RedlockSettings)
		takes   time.Duration
		want    string
	}{
		{"an acquire that waits", protocols.Call{Waits: true}, nil, nil, long, ""},
		{"an acquire that waits as its context does", protocols.Call{Waits: true}, after(long, nil), nil, long, ""},
		{"an acquire that waits longer", protocols.Call{Waits: true}, after(long, nil), nil, long + 1e6,
			"c1's acquire went on for 1ms after its context ended, and may take 0s."},
		{"an acquire of a Holder that waits longer", protocols.Call{Waits: true, Wait: long}, nil, nil, long + 1e6,
			"c1's acquire went on for 1.001s after it was called, and may take 1s."},
		{"one attempt", protocols.Call{}, nil, nil, 50 * time.Millisecond, ""},
		{"one attempt that takes longer", protocols.Call{}, nil, nil, 51 * time.Millisecond,
			"c1's acquire went on for 51ms after it was called, and may take 50ms."},
		{"one attempt with two tokens", protocols.Call{}, nil, fenced, 100 * time.Millisecond, ""},
		{"one attempt with two tokens that takes longer", protocols.Call{}, nil, fenced, 101 * time.Millisecond,
			"c1's acquire went on for 101ms after it was called, and may take 100ms."},
		{"an extend", protocols.Call{Func: protocols.ExtendCall}, nil, nil, 50 * time.Millisecond, ""},
		{"an extend that takes longer", protocols.Call{Func: protocols.ExtendCall}, nil, nil, 51 * time.Millisecond, "c1's extend went on for 51ms"},
		{"a release", protocols.Call{Func: protocols.ReleaseCall}, nil, nil, 100 * time.Millisecond, ""},
		{"a release that takes longer", protocols.Call{Func: protocols.ReleaseCall}, nil, nil, 101 * time.Millisecond, "c1's release went on for 101ms"},
		{"a release ends its own context", protocols.Call{Func: protocols.ReleaseCall}, after(1, redlock.ErrReleased), nil, 50 * time.Millisecond, ""},
		{"but not the deadline", protocols.Call{Func: protocols.ReleaseCall}, within(20 * time.Millisecond), nil, 21 * time.Millisecond,
			"c1's release went on for 21ms after its context ended, and may take 19.999999ms."},
		{"a preparation", protocols.Call{Func: protocols.PrepareCall}, nil, nil, 100 * time.Millisecond, ""},
		{"a preparation that takes longer", protocols.Call{Func: protocols.PrepareCall}, nil, nil, 101 * time.Millisecond, "c1's PrepareGuard went on for 101ms"},
		{"a close", protocols.Call{Func: protocols.CloseCall}, nil, nil, 150 * time.Millisecond, ""},
		{"a close that takes longer", protocols.Call{Func: protocols.CloseCall}, nil, nil, 151 * time.Millisecond, "c1's Close went on for 151ms"},
		{"a close with fencing", protocols.Call{Func: protocols.CloseCall}, nil, fenced, 200 * time.Millisecond, ""},
		{"a close whose caller gives up", protocols.Call{Func: protocols.CloseCall}, after(2e6, nil), nil, 3e6,
			"c1's Close went on for 1ms after its context ended, and may take 0s."},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*protocols.RedlockSettings) {}
			}
			r := newRig(t, change)
			r.goes("c1", 0, func(a *actor) {
				call := c.call
				call.Client, call.Resources, call.Grants, call.TTL, call.Context = "c1", []string{"r"}, []int{1}, ttl, context.Background()
				if c.context != nil {
					call.Context = c.context(a)
				}
				a.Called(&call)
				a.sleeps(c.takes)
				err := call.Context.Err()
				if err == nil && c.call.Func != protocols.CloseCall {
					err = redlock.ErrClosed
				}
				a.Returned(&call, err)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// deadlined is a context with a deadline that does not end it.
type deadlined struct {
	context.Context
	deadline time.Time
}

func (d deadlined) Deadline() (time.Time, bool) { return d.deadline, true }

// A call that never returns is overdue when the run is over. Time in which its client stood still does not count, and a crash
// ends it.
func TestCallsThatNeverReturn(t *testing.T) {
	const release = "100ms; release; "
	tell(t, checker.Contract, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"nothing", release, "c1's release went on for 59.9s after it was called, and may take 100ms."},
		{"a pause", release + "in 0s pause; in 39s resume", "c1's release went on for 20.9s after the client went on, and may take 100ms."},
		{"a pause up to the end", release + "in 0s pause", ""},
		{"a crash", release + "in 0s crash", ""},

		// A Close that is too late when a release begins is too late, although it may wait for that.
		{"a close in time", "closing; 150ms; release; returns; returns", ""},
		{"a close too late", "closing; 151ms; release; returns; returns", "c1's Close went on for 151ms after it was called, and may take 150ms."},

		// What waits for a lock ends soon after the client was closed, and what is called after that ends at once. A client
		// that takes the place of the one before is not closed.
		{"an acquire before a close", "in-a-context; waiting; close; 1s; returns closed",
			"c1's acquire went on for 1s after the client was closed, and may take 250ms."},
		{"an acquire after a close", "in-a-context; close; waiting; 1s; returns closed",
			"c1: acquire of a closed client must be refused before anything comes of it, and it takes 1s. (2)"},
		{"an acquire of the client before", "in-a-context; waiting; new-client; close; 1s; returns closed", ""},
		{"an acquire of the client after", "in-a-context; close; new-client; waiting; 1s; returns taken", ""},
	})
}

// A call that has done work under a lock returns when the work has, and after the release that it makes.
func TestWorkEndsItsCall(t *testing.T) {
	for _, c := range []struct {
		releases bool
		takes    time.Duration
		want     string
	}{
		{false, 0, ""},
		{false, time.Millisecond, "c1's call that has done work went on for 1ms after the work returned, and may take 0s."},
		{true, 100 * time.Millisecond, ""},
		{true, 101 * time.Millisecond, "c1's call that has done work went on for 101ms after the work returned, and may take 100ms."},
	} {
		r := newRig(t)
		r.goes("c1", 0, func(a *actor) {
			l := a.acquires("ABC", "v")
			w := &protocols.Work{Client: "c1", Resource: "r", Lease: l, Releases: c.releases, Context: context.Background(), TTL: ttl}
			a.sleeps(time.Second)
			w.Ended = true
			a.Stops(w)
			from := a.reads()
			if c.releases {
				a.call(protocols.ReleaseCall, l, nil, func() {
					a.asks("ABC", "DEL", "r")
					l.cancel(redlock.ErrReleased)
				})
			}
			a.sleeps(c.takes - a.reads().Sub(from))
			a.Worked(w, nil)
			l.ends(a, redlock.ErrLost)
		})
		r.finds(t, checker.Contract, c.want)
	}
}
