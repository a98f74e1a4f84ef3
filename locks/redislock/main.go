// Command redislock is the lock program of github.com/bsm/redislock on go-redis, both with their defaults: a lock on one Redis.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		return locker{redislock.New(redis.NewClient(&redis.Options{Addr: env.Nodes[0], Dialer: env.Dial}))}, nil
	})
}

type locker struct{ *redislock.Client }

func (locker) About() lockprogram.About {
	return lockprogram.About{Library: "redislock", Version: lockprogram.Version("github.com/bsm/redislock"), Extends: true, OneNode: true}
}

func (l locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return obtained(l.Obtain(ctx, resource, ttl, nil))
}

// retry is how long the library waits between two attempts: it has no default.
const retry = 100 * time.Millisecond

func (l locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return obtained(l.Obtain(ctx, resource, ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(retry)}))
}

func obtained(l *redislock.Lock, err error) (lockprogram.Lease, error) {
	if errors.Is(err, redislock.ErrNotObtained) {
		err = lockprogram.Refused(err)
	}
	return lease{l}, err
}

type lease struct{ *redislock.Lock }

func (l lease) Unlock(ctx context.Context) error { return held(l.Release(ctx)) }

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	return held(l.Refresh(ctx, ttl, nil))
}

func held(err error) error {
	if errors.Is(err, redislock.ErrLockNotHeld) || errors.Is(err, redislock.ErrNotObtained) {
		return lockprogram.Refused(err)
	}
	return err
}
