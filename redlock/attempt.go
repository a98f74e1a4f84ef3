package redlock

import (
	"context"
	"sync"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// claim is what one attempt lays on the nodes under its own value: from its first SET until the last key of it is
// known to be gone, or left to its TTL.
type claim struct {
	client  *Client
	ctx     context.Context // values only: a claim outlives the call that made it
	keys    []string        // sorted
	name    string          // of the resources, for people
	value   string
	attempt int
	call    string // the value of the call's first attempt
	token   int64  // the fencing token proposed last; 0 without fencing

	mu        sync.Mutex // guards what follows, and the rounds of the claim
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

func (cl *claim) resource() string { return cl.name }

// failure is an attempt that was not granted.
type failure struct {
	err     *Error
	claim   *claim // of the last attempt for which anything was sent; nil if nothing was
	release *round // its clean-up, under way; likewise
}

// attempt runs the algorithm once: draw a value, read the clock, ask all nodes at once, read the clock again; granted
// if a quorum said yes and there is validity left. If not, whatever landed is released on all nodes at once. A fencing
// token that did not beat the nodes' counters is followed by one that does, between the two clock readings. before is the
// attempt of the same call that failed last, nil for the first; the value of that is first, or drawn if that is empty.
func (c *Client) attempt(ctx context.Context, keys []string, t term, first string, before *failure) (*Lease, *failure) {
	number := 1
	value, err := first, error(nil)
	if before != nil {
		number = before.claim.attempt + 1
	}
	if before != nil || first == "" {
		value, err = c.newValue()
	}
	if err != nil {
		return nil, before.unsent(keys, number, err)
	}
	cl := &claim{client: c, ctx: valuesOf(ctx), keys: keys, name: nameOf(keys), value: value, attempt: number, call: value}
	if before != nil {
		cl.call = before.claim.call
	}
	if c.isFenced() {
		if cl.token, err = c.tokens.propose(keys, 0); err != nil {
			return nil, before.unsent(keys, number, err)
		}
	}
	cl.observe(observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire})

	r := cl.ask(driver.OpAcquire, t.ttl)
	err = r.wait(ctx)
	if err == errBehind {
		r, err = cl.raise(ctx, r, t)
	}
	if err != nil {
		cl.observe(observe.Event{Step: observe.QuorumLost, Op: driver.OpAcquire, Accepted: r.votes, Quorum: c.quorum, Err: err})
		return nil, cl.deny(ctx, r, err)
	}
	cl.observe(observe.Event{Step: observe.QuorumReached, Op: driver.OpAcquire, Accepted: r.votes, Quorum: c.quorum})

	now := c.clock.Now()
	validity := t.validity(now.Sub(r.start))
	until := now.Add(validity)
	cl.observe(observe.Event{Step: observe.ValidityComputed, Op: driver.OpAcquire, Validity: validity, Until: until})
	if validity <= 0 {
		return nil, cl.deny(ctx, r, ErrTooLate)
	}
	lease := newLease(cl, t, validity, until)
	cl.observe(observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Validity: validity, Until: until, Token: cl.token})
	return lease, nil
}

// valuesOf is a context with the values of another that never ends.
func valuesOf(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// deny ends an attempt that failed.
func (cl *claim) deny(ctx context.Context, r *round, reason error) *failure {
	err := r.failed(ctx, reason)
	err.Attempts = cl.attempt
	cl.observe(observe.Event{Step: observe.Denied, Op: driver.OpAcquire, Err: err})
	return &failure{err: err, claim: cl, release: cl.releaseAfter(r)}
}

// unsent is the failure of an attempt that came to nothing before anything was sent, after f, if that is not nil.
func (f *failure) unsent(keys []string, number int, cause error) *failure {
	now := &failure{err: &Error{Op: driver.OpAcquire, Resource: nameOf(keys), Attempts: number, Cause: cause}}
	if f != nil {
		now.claim, now.release = f.claim, f.release
	}
	return now
}

// because is the failure with a reason why there is no further attempt. The error that the observer was shown stays as
// it is.
func (f *failure) because(cause error) *failure {
	err := *f.err
	err.Cause = cause
	return &failure{err: &err, claim: f.claim, release: f.release}
}

// final gives the attempt up: nobody waits for its clean-up any more, which goes on by itself.
func (f *failure) final() error {
	if f.claim != nil {
		f.release.leave()
		f.claim.observe(observe.Event{Step: observe.GaveUp, Op: driver.OpAcquire, Err: f.err})
	}
	return f.err
}
