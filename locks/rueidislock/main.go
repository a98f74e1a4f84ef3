// Command rueidislock is the lock program of github.com/redis/rueidis/rueidislock: a lock on three keys of one Redis, of
// which its holder needs two.
//
// On tier live it caches on the client over RESP3, as it does by default: the server tells it when a key is gone. In the
// simulator it goes without, over RESP2, and asks again every 20 ms.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		return &locker{env: env, of: map[time.Duration]rueidislock.Locker{}}, nil
	})
}

// locker has a Locker of the library for each TTL, which there is a setting of the Locker. They connect when they are needed.
type locker struct {
	env lockprogram.Env
	mu  sync.Mutex
	of  map[time.Duration]rueidislock.Locker
}

func (*locker) About() lockprogram.About {
	return lockprogram.About{Library: "rueidislock", Version: lockprogram.Version("github.com/redis/rueidis"), OneNode: true,
		TellsUntil: true, TellsLost: true, Renews: true, Keys: []string{"rueidislock:*:{resource}"}}
}

func (l *locker) with(ttl time.Duration) (rueidislock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.of[ttl]; x != nil {
		return x, nil
	}
	inSimulator := runtime.GOOS == "wasip1"
	x, err := rueidislock.NewLocker(rueidislock.LockerOption{KeyValidity: ttl, ClientOption: rueidis.ClientOption{
		InitAddress: l.env.Nodes[:1], DisableCache: inSimulator, AlwaysRESP2: inSimulator,
		DialCtxFn: func(ctx context.Context, address string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, d.Timeout) // as the library's own dialer does
			defer cancel()
			return l.env.Dial(ctx, "tcp", address)
		},
	}})
	if err == nil {
		l.of[ttl] = x
	}
	return x, err
}

func (l *locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return l.lock(ctx, ttl, func(ctx context.Context, x rueidislock.Locker) (context.Context, context.CancelFunc, error) {
		return x.TryWithContext(ctx, resource)
	})
}

func (l *locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return l.lock(ctx, ttl, func(ctx context.Context, x rueidislock.Locker) (context.Context, context.CancelFunc, error) {
		return x.WithContext(ctx, resource)
	})
}

// lock calls the library with a context that is over with the call's only until the lock is granted: the lease lasts as long as
// the context.
func (l *locker) lock(ctx context.Context, ttl time.Duration, call func(context.Context, rueidislock.Locker) (context.Context, context.CancelFunc, error)) (lockprogram.Lease, error) {
	x, err := l.with(ttl)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, end)
	held, release, err := call(life, x)
	stop()
	switch {
	case errors.Is(err, rueidislock.ErrNotLocked):
		return nil, lockprogram.Refused(err)
	case err != nil:
		return nil, err
	}
	return lease{held, release}, nil
}

type lease struct {
	held    context.Context
	release context.CancelFunc
}

// errUntold: the library has the server remove the keys, and tells nobody what came of it.
var errUntold = errors.New("the library does not tell")

func (l lease) Unlock(context.Context) error {
	l.release()
	return errUntold
}

// Until is far away: the library renews the lease until it is released or lost.
func (lease) Until() time.Time { return lockprogram.Forever() }

func (l lease) Lost() <-chan struct{} { return l.held.Done() }
