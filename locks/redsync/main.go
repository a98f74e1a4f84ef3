// Command redsync is the lock program of github.com/go-redsync/redsync on go-redis, both with their defaults. Flags turn on
// options of theirs.
package main

import (
	"context"
	"errors"
	"flag"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"redlocksim/lockprogram"
)

func main() {
	failFast := flag.Bool("fail-fast", false, "WithFailFast: return as soon as the outcome is certain")
	setNX := flag.Bool("set-nx-on-extend", false, "WithSetNXOnExtend: an extend sets keys that are gone")
	contexts := flag.Bool("context-timeouts", false, "go-redis' ContextTimeoutEnabled: the deadlines of contexts count")
	flag.Parse()
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		var pools []pool.Pool
		for _, address := range env.Nodes {
			pools = append(pools, goredis.NewPool(redis.NewClient(&redis.Options{Addr: address, Dialer: env.Dial, ContextTimeoutEnabled: *contexts})))
		}
		l := locker{Redsync: redsync.New(pools...)}
		if *failFast {
			l.options = append(l.options, redsync.WithFailFast(true))
		}
		if *setNX {
			l.options = append(l.options, redsync.WithSetNXOnExtend())
		}
		return l, nil
	})
}

type locker struct {
	*redsync.Redsync
	options []redsync.Option
}

func (l locker) mutex(resource string, ttl time.Duration) lease {
	return lease{l.NewMutex(resource, append(slices.Clone(l.options), redsync.WithExpiry(ttl))...)}
}

func (locker) About() lockprogram.About {
	return lockprogram.About{Library: "redsync", Version: lockprogram.Version("github.com/go-redsync/redsync/v4"),
		Extends: true, TellsUntil: true}
}

func (l locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	m := l.mutex(resource, ttl)
	return m, refused(m.TryLockContext(ctx))
}

// Lock begins anew when the library gives up, which it does after 32 tries by default.
func (l locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	m := l.mutex(resource, ttl)
	err := m.LockContext(ctx)
	for err != nil && ctx.Err() == nil {
		err = m.LockContext(ctx)
	}
	return m, refused(err)
}

// refused is what an error says: the library releases what it has got of a lock that failed.
func refused(err error) error {
	if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
		return lockprogram.Refused(err)
	}
	return err
}

type lease struct{ *redsync.Mutex }

func (l lease) Unlock(ctx context.Context) error {
	_, err := l.UnlockContext(ctx)
	return gone(err)
}

// Extend has no TTL of its own: the library extends by that of the lock.
func (l lease) Extend(ctx context.Context, _ time.Duration) error {
	_, err := l.ExtendContext(ctx)
	return gone(err)
}

// gone is what the error of a release or an extend says.
func gone(err error) error {
	if errors.Is(err, redsync.ErrLockAlreadyExpired) || errors.Is(err, redsync.ErrExtendFailed) {
		return lockprogram.Refused(err)
	}
	return err
}
