package protocols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
)

// redissonMulti is Redisson's RedissonMultiLock of one RLock on each node and, where the quorum is less than all nodes,
// its RedissonRedLock: the RLocks are taken one after the other, until too many have failed. With a lease time they are
// first taken for twice the time that the call may wait, and at the end all are given the lease time.
//
// Redisson says no validity, and subtracts nothing for clock drift: its client has the lease time to go by. Here it
// counts that from before the last requests were sent, as carefully as it can.
type redissonMulti struct {
	*session
	locks    []*redisson
	quorum   int
	watched  bool
	patience time.Duration // between two attempts
}

var redissonMultiProtocol = Protocol{Name: "redisson-multi", New: newRedissonMulti, Steps: redissonMultiSteps, Capabilities: forgivingCapabilities,
	Sentences: append(slices.Clone(redissonSentences), LeaseTimeSet),
	own:       RedissonMultiSettings{RedissonSettings: RedissonSettings{Watchdog: true}, DelaySettings: defaultDelay()}}

// RedissonMultiSettings are those of Redisson's lock over several others.
type RedissonMultiSettings struct {
	RedissonSettings `yaml:",inline"`
	QuorumSettings   `yaml:",inline"`
	DelaySettings    `yaml:",inline"`
}

// baseWait is what RedissonMultiLock.lock allows each lock for an attempt.
const baseWait = 1500 * time.Millisecond

// The steps of protocol redisson-multi: those of its locks, and its own.
var redissonMultiSteps = append(slices.Clone(redissonSteps), LeaseTimeSet)

func newRedissonMulti(env Env) (Locker, error) {
	s := newSession(env)
	own := Of[RedissonMultiSettings](env.Settings)
	x := &redissonMulti{session: &s, quorum: own.quorum(len(s.nodes)), watched: own.Watchdog, patience: own.RetryDelay.Max}
	for i := range s.nodes {
		x.locks = append(x.locks, newRLock(x.session, i))
	}
	return x, nil
}

// Check implements Own.
func (own RedissonMultiSettings) Check(s Settings, nodes int) error {
	if q := own.quorum(nodes); q < majority(nodes) || q > nodes {
		return fmt.Errorf("quorum %d of %d nodes must be from %d, for a RedissonRedLock, to %d, for a RedissonMultiLock", q, nodes, majority(nodes), nodes)
	}
	return cmp.Or(own.DelaySettings.check(), s.checkTTL())
}

func (x *redissonMulti) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	for n := 1; ; n++ {
		x.env.Attempt(ctx, n)
		wait := x.waitTime(ttl)
		deadline := x.clock.Now().Add(wait)
		l, err := x.attempt(ctx, resource, ttl, wait)
		if !errors.Is(err, redlock.ErrNoQuorum) {
			return l, err
		}
		// Where nodes refuse at once Redisson would wait for a connection; what that takes is not modelled, and this
		// stands for it.
		if ctx.Err() == nil && x.clock.Now().Before(deadline) {
			x.env.Sleep(ctx, x.patience)
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w, %w", err, ctx.Err())
		}
	}
}

func (x *redissonMulti) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.attempt(ctx, resource, ttl, 0)
}

// waitTime is how long an attempt of Lock may take.
func (x *redissonMulti) waitTime(ttl time.Duration) time.Duration {
	base := time.Duration(len(x.locks)) * x.env.Scale(baseWait)
	if x.watched {
		return base
	}
	from, to := min(base, ttl), max(base, ttl)
	if ttl <= base {
		from, to = ttl/2, ttl
	}
	return (from + time.Duration(x.random(uint64(to-from)+1))).Truncate(time.Millisecond)
}

// attempt takes the locks in their order. wait is how long that may take, each lock's share included; 0 asks each once.
func (x *redissonMulti) attempt(ctx context.Context, resource string, ttl, wait time.Duration) (Lease, error) {
	n, first := len(x.locks), ttl
	if wait > 0 && !x.watched {
		first = 2 * wait
	}
	deadline := x.clock.Now().Add(wait)
	failures := n - x.quorum
	var taken []*redisson
	for i := 0; i < n; i++ {
		r := x.locks[i]
		share := wait
		if x.quorum < n {
			share = wait / time.Duration(n)
		}
		until := x.clock.Now().Add(share)
		if until.After(deadline) {
			until = deadline
		}
		if _, err := r.take(ctx, resource, first, until); err == nil {
			taken = append(taken, r)
		} else {
			if !errors.Is(err, redlock.ErrTaken) {
				_ = r.unlock(ctx, ctx, resource, ttl) // it may have been taken
			}
			if len(taken) == x.quorum {
				break
			}
			if failures == 0 {
				x.release(ctx, taken, resource, ttl)
				if wait <= 0 || ctx.Err() != nil {
					return nil, redlock.ErrNoQuorum
				}
				// From the first again, for as long as there is time.
				failures, taken, i = n-x.quorum, nil, -1
			} else {
				failures--
			}
		}
		if wait > 0 && !x.clock.Now().Before(deadline) {
			x.release(ctx, taken, resource, ttl)
			return nil, redlock.ErrNoQuorum
		}
	}
	l := &multiLease{redissonMulti: x, held: held{ctx: ctx, ttl: ttl}, resource: resource}
	var end time.Time
	if !x.watched {
		var err error
		if end, err = x.setLeaseTime(ctx, taken, resource, ttl); err != nil {
			return nil, err
		}
	}
	l.believe(x.env, end)
	return l, nil
}

// setLeaseTime has the keys expire when the lease time has passed. Redisson asks nobody whose they are.
func (x *redissonMulti) setLeaseTime(ctx context.Context, taken []*redisson, resource string, ttl time.Duration) (time.Time, error) {
	start := x.clock.Now()
	err := x.all(taken, func(r *redisson) error {
		return r.command(r.node, "PEXPIRE", resource, milliseconds(ttl)).Err
	})
	x.env.Step(ctx, Step{Name: LeaseTimeSet, Span: ttl, Detail: fmt.Sprintf("gives the %d locks that it took the lease time, %v", len(taken), ttl)})
	return start.Add(ttl), err
}

// release releases some locks, and does not look at what comes of it.
func (x *redissonMulti) release(ctx context.Context, locks []*redisson, resource string, ttl time.Duration) {
	_ = x.all(locks, func(r *redisson) error { return r.unlock(ctx, ctx, resource, ttl) })
}

// all does something with some locks at the same time, and returns the first error in their order.
func (x *redissonMulti) all(locks []*redisson, do func(*redisson) error) error {
	var nodes []int
	for _, r := range locks {
		nodes = append(nodes, r.node)
	}
	errs := make([]error, len(x.locks))
	x.atOnce(nodes, func(node int) rediscmd.Reply { return rediscmd.Reply{Err: do(x.locks[node])} }, func(node int, reply rediscmd.Reply) bool {
		errs[node] = reply.Err
		return true
	})
	return cmp.Or(errs...)
}

// RenewsItself implements SelfRenewing.
func (x *redissonMulti) RenewsItself() bool { return x.watched }

// multiLease is a multi-lock that is held.
type multiLease struct {
	*redissonMulti
	held
	resource string
}

// Holder implements Standing.
func (l *multiLease) Holder() string { return l.locks[0].owner(l.ctx) }

// Extend gives the keys a new TTL, on all nodes.
func (l *multiLease) Extend(ctx context.Context, ttl time.Duration) error {
	until, err := l.setLeaseTime(ctx, l.locks, l.resource, ttl)
	if err != nil {
		return err
	}
	l.lengthen(l.env, until)
	return nil
}

// Unlock releases all locks. A RedissonRedLock swallows what goes wrong with some.
func (l *multiLease) Unlock(ctx context.Context) error {
	err := l.all(l.locks, func(r *redisson) error { return r.unlock(ctx, l.ctx, l.resource, l.ttl) })
	if l.quorum < len(l.locks) {
		return nil
	}
	return err
}
