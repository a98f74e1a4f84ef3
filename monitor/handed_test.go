package monitor

import (
	"context"
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
)

// What a caller hands to a call is as it was when that has returned.
func TestWhatIsHandedToCalls(t *testing.T) {
	acquire := func(context.Context) *protocols.Call {
		return &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"s", "r"}}
	}
	in := func(ctx context.Context) *protocols.Call {
		return &protocols.Call{Func: protocols.ExtendCall, Client: "c1", Resources: []string{"r"}, Context: ctx}
	}
	derive := func(a *actor, ctx context.Context) func(error) {
		_, end := a.client.WorkClock().WithCancel(ctx)
		return end
	}
	for _, c := range []struct {
		name string
		call func(context.Context) *protocols.Call
		does func(*actor, *protocols.Call, context.Context)
		want string
	}{
		{"as it was", acquire, nil, ""},
		{"sorted", acquire, func(_ *actor, c *protocols.Call, _ context.Context) { slices.Sort(c.Resources) }, `c1 asks for the lock on "s" and "r", and finds its list of resources changed, to "r" and "s". (1)`},
		{"values", func(context.Context) *protocols.Call {
			return &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"r"}}
		}, func(a *actor, c *protocols.Call, _ context.Context) {
			c.Lease, c.Bare = a.lease("v", a.reads().Add(ttl)), true
		}, "the context of the lease that c1 is granted has not the values of the context of its call. (1)"},
		{"a context", in, func(a *actor, _ *protocols.Call, ctx context.Context) { derive(a, ctx) }, "c1's extend has returned, and leaves contexts behind that hang on its own: 1. (1)"},
		{"a context that has ended", in, func(a *actor, _ *protocols.Call, ctx context.Context) { derive(a, ctx)(nil) }, ""},
		{"a context of work that goes on", in, func(a *actor, _ *protocols.Call, ctx context.Context) {
			a.Works(&protocols.Work{Client: "c1", Resource: "r", Context: ctx})
			derive(a, ctx)
		}, ""},
		{"a context of work under the lease of the call", func(ctx context.Context) *protocols.Call {
			return &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"r"}, Context: ctx, Lease: &lease{}}
		}, func(a *actor, c *protocols.Call, ctx context.Context) {
			a.Works(&protocols.Work{Client: "c1", Resource: "r", Lease: c.Lease})
			derive(a, ctx)
		}, ""},
		{"a context of other work, which goes on", in, func(a *actor, _ *protocols.Call, ctx context.Context) {
			first, second := &protocols.Work{Client: "c1", Resource: "r", Context: ctx}, &protocols.Work{Client: "c1", Resource: "r", Context: ctx}
			a.Works(first)
			a.Works(second)
			derive(a, ctx)
			a.Worked(first, nil)
		}, ""},
		{"a context of work", in, func(a *actor, _ *protocols.Call, ctx context.Context) {
			w := &protocols.Work{Client: "c1", Resource: "r", Context: ctx}
			a.Works(w)
			end := derive(a, ctx)
			a.Worked(w, nil)
			end(nil)
		}, "c1 has done work under the lock, and the call leaves contexts behind that hang on its own: 1. (1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchHanded)
			r.goes("c1", time.Second, func(a *actor) {
				ctx, end := a.client.WorkClock().WithCancel(context.Background())
				defer end(nil)
				call := c.call(ctx)
				a.Called(call)
				if c.does != nil {
					c.does(a, call, ctx)
				}
				a.Returned(call, nil)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
