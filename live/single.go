//go:build linux

package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// single is protocol single: SET with NX and PX on the first node, and one of three ways to release.
type single struct{ client *client }

func (x *single) Lock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	delay := x.client.scenario.Lock.RetryDelay
	for n := 1; ; n++ {
		l, err := x.attempt(ctx, n, resource, ttl)
		if err == nil {
			return l, nil
		}
		sleep(ctx, delay.Min+rand.N(delay.Max-delay.Min+1))
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

func (x *single) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return x.attempt(ctx, 1, resource, ttl)
}

func (x *single) attempt(ctx context.Context, number int, resource string, ttl time.Duration) (protocols.Lease, error) {
	u := grantOf(ctx)
	step := func(e history.Event) {
		e.Kind, e.Op, e.Grant = history.Step, int(u.op.Load()), u.grant
		x.client.record(e)
	}
	step(history.Event{Name: redlock.AttemptStarted.String(), Number: int64(number)})
	l := &singleLease{single: x, under: u, resource: resource, value: value()}
	start := x.client.clock.Now()
	err := x.do(func(ctx context.Context, r *redis.Client) error {
		return r.Do(ctx, "SET", resource, l.value, "NX", "PX", ttl.Milliseconds()).Err()
	})
	outcome := redlock.Failed
	switch {
	case err == nil:
		outcome = redlock.Accepted
	case errors.Is(err, redis.Nil):
		outcome, err = redlock.Declined, redlock.ErrTaken
	case errors.Is(err, context.DeadlineExceeded):
		outcome = redlock.TimedOut
	}
	step(history.Event{Name: redlock.NodeAnswered.String(), Node: x.client.scenario.Nodes.Names[0], Detail: outcome.Of(redlock.OpAcquire)})
	if err != nil {
		return nil, err
	}
	l.until = start.Add(ttl)
	step(history.Event{Name: redlock.ValidityComputed.String(), Span: int64(l.until.Sub(x.client.clock.Now()))})
	x.client.believe(u.grant, l.until)
	return l, nil
}

// do sends something to the node, and waits for as long as the node timeout.
func (x *single) do(f func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), x.client.scenario.Lock.NodeTimeout)
	defer cancel()
	return f(ctx, x.client.redis[0])
}

// singleLease is a lock on one instance.
type singleLease struct {
	*single
	under    *under
	resource string
	value    string
	until    time.Time
}

func (l *singleLease) Until() time.Time         { return l.until }
func (l *singleLease) Context() context.Context { return context.Background() }
func (l *singleLease) Token() (int64, bool)     { return 0, false }

const (
	compareAndDelete = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	compareAndExpire = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
)

// change sends a command that answers 1 if the key was there and ours.
func (l *singleLease) change(args ...any) error {
	return l.do(func(ctx context.Context, r *redis.Client) error {
		n, err := r.Do(ctx, args...).Int()
		if err == nil && n != 1 {
			return redlock.ErrLost
		}
		return err
	})
}

func (l *singleLease) Extend(_ context.Context, ttl time.Duration) error {
	start := l.client.clock.Now()
	if err := l.change("EVAL", compareAndExpire, 1, l.resource, l.value, ttl.Milliseconds()); err != nil {
		return err
	}
	l.until = start.Add(ttl)
	l.client.believe(l.under.grant, l.until)
	return nil
}

func (l *singleLease) Unlock(context.Context) error {
	switch l.client.scenario.Lock.Release {
	case protocols.Del:
		return l.change("DEL", l.resource)
	case protocols.GetDel:
		err := l.do(func(ctx context.Context, r *redis.Client) error {
			got, err := r.Get(ctx, l.resource).Result()
			if errors.Is(err, redis.Nil) || err == nil && got != l.value {
				return redlock.ErrLost
			}
			return err
		})
		if err != nil {
			return err
		}
		l.client.record(history.Event{Kind: history.Step, Name: protocols.Compared, Op: int(l.under.op.Load()), Grant: l.under.grant,
			Detail: "has read its own value, and is about to delete the key"})
		return l.change("DEL", l.resource)
	}
	return l.change("EVAL", compareAndDelete, 1, l.resource, l.value)
}
