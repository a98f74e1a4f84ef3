//go:build linux

package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type redsyncLocker struct {
	clients
	redsync *redsync.Redsync
	options []redsync.Option
}

func openRedsync(failFast bool, poolSize int) func(context.Context, []string) (locker, error) {
	return func(_ context.Context, addrs []string) (locker, error) {
		l := &redsyncLocker{clients: openPeers(addrs, poolSize)}
		var pools []redis.Pool
		for _, client := range l.clients {
			pools = append(pools, redsyncgoredis.NewPool(client))
		}
		l.redsync = redsync.New(pools...)
		l.options = []redsync.Option{
			redsync.WithExpiry(ttl),
			redsync.WithTimeoutFactor(nodeTimeout.Seconds() / ttl.Seconds()),
			redsync.WithTries(math.MaxInt), // until the context ends, as the others
			redsync.WithRetryDelayFunc(func(int) time.Duration { return retryDelay() }),
			redsync.WithFailFast(failFast),
		}
		return l, nil
	}
}

func (l *redsyncLocker) lock(ctx context.Context, key string) (held, error) {
	mutex := l.redsync.NewMutex(key, l.options...)
	if err := mutex.LockContext(ctx); err != nil {
		return nil, err
	}
	return redsyncMutex{mutex}, nil
}

type redsyncMutex struct{ mutex *redsync.Mutex }

func (m redsyncMutex) Unlock(ctx context.Context) error {
	if ok, err := m.mutex.UnlockContext(ctx); !ok {
		return errors.Join(errors.New("not released"), err)
	}
	return nil
}

// hold renews with a loop, as users of redsync write it, since the library has none. What fails is tried again while there is
// time.
func (l *redsyncLocker) hold(ctx context.Context, key string, granted func()) error {
	mutex := l.redsync.NewMutex(key, l.options...)
	if err := mutex.LockContext(ctx); err != nil {
		return err
	}
	granted()
	period := time.NewTicker(renewEvery)
	defer period.Stop()
	for {
		select {
		case <-ctx.Done():
			return redsyncMutex{mutex}.Unlock(context.WithoutCancel(ctx))
		case <-period.C:
			for ctx.Err() == nil {
				ok, err := mutex.ExtendContext(context.WithoutCancel(ctx))
				if ok {
					break
				}
				if time.Now().After(mutex.Until()) {
					return errors.Join(errors.New("not extended"), err)
				}
				sleep(ctx, retryDelay())
			}
		}
	}
}

type redislockLocker struct {
	clients
	client  *redislock.Client
	options *redislock.Options
}

func openRedislock(_ context.Context, addrs []string) (locker, error) {
	l := &redislockLocker{clients: openPeers(addrs, 0), options: &redislock.Options{RetryStrategy: randomBackoff{}}}
	l.client = redislock.New(l.clients[0])
	return l, nil
}

// randomBackoff is the delay of all contestants as redislock wants it.
type randomBackoff struct{}

func (randomBackoff) NextBackoff() time.Duration { return retryDelay() }

func (l *redislockLocker) lock(ctx context.Context, key string) (held, error) {
	lock, err := l.client.Obtain(ctx, key, ttl, l.options)
	if err != nil {
		return nil, err
	}
	return redislockLock{lock}, nil
}

type redislockLock struct{ lock *redislock.Lock }

func (l redislockLock) Unlock(ctx context.Context) error { return l.lock.Release(ctx) }

type rueidisLocker struct{ locker rueidislock.Locker }

func openRueidislock(_ context.Context, addrs []string) (locker, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: addrs, ForceSingleClient: true},
		KeyMajority:    1,
		NoLoopTracking: true, // the servers are new enough
		KeyValidity:    ttl,
		ExtendInterval: renewEvery,
		TryNextAfter:   nodeTimeout, // after its default of 20 ms it takes a busy server for a taken lock
	})
	if err != nil {
		return nil, err
	}
	return rueidisLocker{l}, nil
}

func (l rueidisLocker) lock(ctx context.Context, key string) (held, error) {
	_, release, err := l.locker.WithContext(ctx, key)
	if err != nil {
		return nil, err
	}
	return rueidisLock{release}, nil
}

func (l rueidisLocker) hold(ctx context.Context, key string, granted func()) error {
	lock, release, err := l.locker.WithContext(context.WithoutCancel(ctx), key)
	if err != nil {
		return err
	}
	granted()
	select {
	case <-ctx.Done():
		release()
		return nil
	case <-lock.Done():
		release()
		return errors.New("lost")
	}
}

func (l rueidisLocker) close() { l.locker.Close() }

type rueidisLock struct{ release context.CancelFunc }

// Unlock cannot say whether the release was confirmed.
func (l rueidisLock) Unlock(context.Context) error {
	l.release()
	return nil
}
