package redlock

import (
	"context"
	"sync"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/observe"
)

// acquisition is one attempt to get the lock, under a value of its own, and the lease that may come of it. It lasts from the
// first SET until the last key is known to be gone, or left to its TTL.
type acquisition struct {
	client   *Client
	ctx      context.Context // values only: an acquisition outlives the call that made it
	keys     []string        // sorted
	name     string          // of the resources, for people
	value    string
	attempt  int    // which one of its call, from 1
	isGated  bool   // the gate is asked before the other nodes
	place    *place // in the line of the gate; nil if it only polls
	call     string // the value of the call's first attempt
	isUntold bool   // it belongs to no call, and the observer is not told of its steps
	token    int64  // the fencing token proposed last; 0 without fencing

	mu        sync.Mutex // guards what follows, and the rounds of the acquisition
	keyArgs   []any      // keys and value as nodes use them; nil until one asks for them
	valueArg  any
	rounds    int
	lastVotes *round // that asked for votes, of at most two; nil before the first
	release   *round // the first one; nil before, and if no node may have the key
	raised    bool   // a second token has been proposed
	granted   bool
	gaveUp    bool       // the caller did before it was decided: who waits behind it is called by the release
	released  bool       // a release has begun: votes that come now are taken back
	voted     quorum.Set // nodes that have set the key, or failed to, and have not said since that it is gone
	doubtful  quorum.Set // nodes on which an acquire ended without an answer: it may still set the key
	outOfLine quorum.Set // nodes that have voted for it with a Line, and so taken its place out of theirs, or keep no lines
	keepsNone bool       // a node that has declined it keeps no lines
	keysUntil time.Time  // when all keys that it has set in time have expired
}

// asking are the nodes that have not answered the last acquire yet. Of two, one with the first token that comes after one with
// the second changes nothing. The acquisition is locked.
func (a *acquisition) asking() quorum.Set {
	if a.lastVotes == nil {
		return 0
	}
	return a.lastVotes.ballot.Pending()
}

// lineAnswers are the nodes that have said that its place is in no line of theirs, as they have voted for it or keep no lines.
// keepsNone says that there is one of these.
func (a *acquisition) lineAnswers() (outOfLine quorum.Set, keepsNone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.outOfLine, a.keepsNone
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
	if a.client.observer == nil || a.isUntold {
		return
	}
	e.Resource, e.Value, e.Attempt, e.Call = a.name, a.value, a.attempt, a.call
	a.client.observer.Observe(a.ctx, e)
}
