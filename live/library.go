//go:build linux

package live

import (
	"context"
	"sync"
	"time"

	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios/protocols"
)

// library is the shipped library, over the shipped adapter.
type library struct {
	client *client
	redis  *redlock.Client

	mu       sync.Mutex
	renewing map[string]protocols.Renewal // by the value of the lease
}

func newLibrary(c *client) (*library, error) {
	x := &library{client: c, renewing: map[string]protocols.Renewal{}}
	var nodes []redlock.Node
	for i, rc := range c.redis {
		n, err := goredis.NewNode(rc, goredis.Name(c.scenario.Nodes.Names[i]), goredis.Clock(c.clock))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	var err error
	x.redis, err = redlock.New(nodes, append(c.scenario.Lock.Options(), redlock.WithClock(c.clock), redlock.WithObserver(x))...)
	return x, err
}

func (x *library) Lock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return x.lease(x.redis.Lock(ctx, resource, ttl))
}

func (x *library) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return x.lease(x.redis.TryLock(ctx, resource, ttl))
}

// Prepare declares the nodes fit to vote; see redlock.Client.PrepareGuard.
func (x *library) Prepare(ctx context.Context) error { return x.redis.PrepareGuard(ctx) }

func (x *library) lease(l *redlock.Lease, err error) (protocols.Lease, error) {
	if err != nil {
		return nil, err
	}
	return &libraryLease{l, x}, nil
}

type libraryLease struct {
	*redlock.Lease
	library *library
}

// Renew implements protocols.Renewer.
func (l *libraryLease) Renew(ctx context.Context, r protocols.Renewal, work func(context.Context)) {
	limit := r.Limit
	if limit == 0 {
		limit = redlock.Unlimited
	}
	x := l.library
	x.mu.Lock()
	x.renewing[l.Value()] = r
	x.mu.Unlock()
	_ = l.Lease.Renew(ctx, redlock.Renewal{Limit: limit, MaxTime: redlock.Unlimited}, func(ctx context.Context) error {
		work(ctx)
		return nil
	}) // that the lease is lost shows
	x.mu.Lock()
	delete(x.renewing, l.Value())
	x.mu.Unlock()
}

// Observe tells of the library's steps, and of the renewals that they belong to.
func (x *library) Observe(ctx context.Context, e redlock.Event) {
	x.mu.Lock()
	r, isRenewing := x.renewing[e.Value]
	x.mu.Unlock()
	if isRenewing && e.Step == redlock.ExtendStarted {
		r.Begins()
	}
	x.step(ctx, e)
	if isRenewing && (e.Step == redlock.Extended || e.Step == redlock.NotExtended) {
		r.Ends(e.Err)
	}
}

func (x *library) step(ctx context.Context, e redlock.Event) {
	u := grantOf(ctx)
	h := history.Event{Kind: history.Step, Name: e.Step.String(), Op: int(u.op.Load()), Grant: u.grant, Number: int64(e.Attempt), Span: int64(e.Validity)}
	isLate := e.Late
	switch e.Step {
	case redlock.Granted, redlock.Extended:
		x.client.believe(u.grant, e.Until)
	case redlock.NodeAnswered:
		h.Node, h.Detail = e.Node.Node, e.Node.Outcome.Of(e.Op)
	case redlock.Joined, redlock.TakenBack:
		h.Node, h.Detail, isLate = e.Node.Node, e.Node.Outcome.Of(e.Op), true
	case redlock.Lost:
		isLate = true
	case redlock.Retrying:
		h.Span = int64(e.Delay)
	}
	if isLate {
		h.Op = 0
	}
	if e.Err != nil {
		h.Detail = protocols.Reason(e.Err)
	}
	x.client.record(h)
}
