// Command etcd is the lock program of go.etcd.io/etcd/client/v3/concurrency: a mutex under a session, which is a lease that the
// client keeps alive.
//
// A client believes in the lock until its session is done. With --count it counts as well, and believes no longer than the TTL
// from when it sent the last keep-alive that was answered.
package main

import (
	"context"
	"errors"
	"flag"
	"math"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"redlocksim/lockprogram"
	"redlocksim/lockprogram/lines"
)

func main() {
	l := &locker{}
	flag.BoolVar(&l.counts, "count", false, "count the TTL from the last keep-alive that was answered")
	flag.Parse()
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		var own struct{ Belief string }
		if err := env.Read(&own); err != nil {
			return nil, err
		}
		if own.Belief == "told" {
			l.counts, l.untilTold = false, true
		}
		// gRPC accepts no shorter time. It notices after that time that a member is cut off, and sends it requests until then.
		client, err := clientv3.New(clientv3.Config{Endpoints: env.Nodes, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second,
			Logger: zap.NewNop()})
		l.client = client
		return l, err
	})
}

type locker struct {
	client *clientv3.Client
	// counts says that clients count, and untilTold that they believe until the cluster itself says that the lease is gone.
	counts, untilTold bool
}

func (l *locker) About() lockprogram.About {
	return lockprogram.About{Library: "etcd concurrency", Version: lockprogram.Version("go.etcd.io/etcd/client/v3"), Server: lines.Etcd,
		Protocols: []string{"consensus"}, Settings: []string{"belief"}, TellsUntil: true, TellsLost: true, Fences: true, Renews: true}
}

func (l *locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	x, err := l.attempt(ctx, resource, ttl, (*concurrency.Mutex).TryLock)
	if errors.Is(err, concurrency.ErrLocked) {
		return nil, lockprogram.Refused(err)
	}
	return x, err
}

// Lock begins anew after a TTL, as after the end of its session: the library waits for ever on a connection that is cut.
func (l *locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	for {
		x, err := l.attempt(ctx, resource, ttl, (*concurrency.Mutex).Lock)
		if err == nil || ctx.Err() != nil {
			return x, err
		}
	}
}

// attempt opens a session and takes the lock under it, within a TTL. A session that comes to nothing is not kept alive. A
// member that knows of no leader is to say so.
func (l *locker) attempt(ctx context.Context, resource string, ttl time.Duration, take func(*concurrency.Mutex, context.Context) error) (lockprogram.Lease, error) {
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), ttl)
	defer cancel()
	var granted *clientv3.LeaseGrantResponse
	if _, err := ask(ctx, ttl, func(ctx context.Context) (err error) {
		granted, err = l.client.Grant(ctx, int64(math.Ceil(ttl.Seconds()))) // leases last for whole seconds
		return err
	}); err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(l.client, concurrency.WithLease(granted.ID))
	if err != nil {
		return nil, err
	}
	x := &lease{locker: l, session: session, mutex: concurrency.NewMutex(session, resource), ttl: ttl, lost: make(chan struct{}), renewed: make(chan time.Time), released: make(chan struct{})}
	taken := make(chan error, 1)
	go func() { taken <- take(x.mutex, ctx) }()
	select {
	case err = <-taken:
	case <-session.Done():
		err = concurrency.ErrSessionExpired
	case <-ctx.Done(): // the library tidies up first, for which it may wait for ever
		err = ctx.Err()
	}
	if err == nil {
		err = x.begin(ctx)
	}
	if err != nil {
		go x.Unlock(context.Background()) // or else the session expires
		return nil, err
	}
	return x, nil
}

// ask makes a request until it is answered, of one member after the other, and counts how often. The library asks one, and
// waits.
func ask(ctx context.Context, ttl time.Duration, request func(context.Context) error) (times int, err error) {
	for times = 1; ; times++ {
		once, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), ttl/5)
		err = request(once)
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return times, err
		}
		time.Sleep(ttl / 100)
	}
}

// lease is a mutex that is held, under a session of its own.
type lease struct {
	*locker
	session *concurrency.Session
	mutex   *concurrency.Mutex
	ttl     time.Duration
	token   int64
	until   time.Time
	lost    chan struct{}
	renewed chan time.Time

	once     sync.Once
	released chan struct{} // closed by the first Unlock, whatever comes of it: nobody renews from then on
}

// begin learns the token, which is the revision that created the mutex's key, and since when the lease lasts.
func (x *lease) begin(ctx context.Context) error {
	var key *clientv3.GetResponse
	_, err := ask(ctx, x.ttl, func(ctx context.Context) (err error) {
		key, err = x.client.Get(ctx, x.mutex.Key())
		return err
	})
	switch {
	case err != nil:
		return err
	case len(key.Kvs) == 0:
		return concurrency.ErrSessionExpired
	}
	x.token, x.until = key.Kvs[0].CreateRevision, time.Now().Add(365*24*time.Hour) // the library keeps the session alive
	if x.counts {
		if x.until, err = x.keepAlive(ctx); err != nil {
			return err
		}
	}
	go x.watch()
	return nil
}

// keepAlive has the lease last for a TTL, and returns until when it does at least.
func (x *lease) keepAlive(ctx context.Context) (until time.Time, err error) {
	_, err = ask(ctx, x.ttl, func(ctx context.Context) error {
		until = time.Now().Add(x.ttl)
		_, err := x.client.KeepAliveOnce(ctx, x.session.Lease())
		return err
	})
	return until, err
}

// watch tells of renewals, and of the end.
func (x *lease) watch() {
	defer close(x.lost)
	defer close(x.renewed)
	if !x.counts && !x.untilTold {
		<-x.session.Done()
		return
	}
	done := x.session.Done()
	if x.untilTold {
		done = nil // which comes, too, when no answer has come for a TTL
	}
	over := time.NewTimer(time.Until(x.until))
	every := time.NewTicker(x.ttl / 3)
	defer every.Stop()
	for {
		select {
		case <-x.released:
			return
		case <-done:
			return
		case <-over.C:
			return
		case <-every.C:
		}
		ctx, cancel := context.WithTimeout(x.client.Ctx(), x.ttl/3)
		until, err := x.keepAlive(ctx)
		cancel()
		switch {
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			return
		case err == nil && x.counts:
			over.Reset(time.Until(until))
			x.renewed <- until
		}
	}
}

// Unlock ends the session, and the mutex's key with it.
func (x *lease) Unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, x.ttl)
	defer cancel()
	x.once.Do(func() { close(x.released) })
	x.session.Orphan()
	times, err := ask(ctx, x.ttl, func(ctx context.Context) error {
		_, err := x.client.Revoke(ctx, x.session.Lease())
		return err
	})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		if times > 1 {
			return nil // by the first request
		}
		return lockprogram.Refused(err)
	}
	return err
}

func (x *lease) Until() time.Time          { return x.until }
func (x *lease) Lost() <-chan struct{}     { return x.lost }
func (x *lease) Renewed() <-chan time.Time { return x.renewed }
func (x *lease) Token() (int64, bool)      { return x.token, true }
