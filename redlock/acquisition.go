package redlock

import (
	"context"
	"sync"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/observe"
)

// acquisition is one attempt to get the lock, under a value of its own, and the lease that may come of it. It lasts from the
// first SET until the last key is known to be gone, or left to its TTL.
type acquisition struct {
	client  *Client
	ctx     context.Context // values only: an acquisition outlives the call that made it
	keys    []string        // sorted
	name    string          // of the resources, for people
	value   string
	attempt int    // which one of its call, from 1
	call    string // the value of the call's first attempt
	token   int64  // the fencing token proposed last; 0 without fencing

	mu        sync.Mutex // guards what follows, and the rounds of the acquisition
	keyArgs   []any      // keys and value as nodes use them; nil until one asks for them
	valueArg  any
	rounds    int
	raised    bool // a second token has been proposed
	granted   bool
	released  bool       // a release has begun: votes that come now are taken back
	releasing quorum.Set // nodes that have not answered a release yet
	freed     quorum.Set // nodes that answered a release by deleting the key
	owing     quorum.Set // nodes that voted while releasing: if the answer is not that the key was deleted, release again
}

// valuesOf is a context with the values of another that never ends.
func valuesOf(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// observe tells the observer of a step.
func (a *acquisition) observe(e observe.Event) {
	if a.client.observer == nil {
		return
	}
	e.Resource, e.Value, e.Attempt, e.Call = a.name, a.value, a.attempt, a.call
	a.client.observer.Observe(a.ctx, e)
}
