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
func (l *locker) Lock(ctx context.Context, resource string, ttl time.Duration) (x lockprogram.Lease, err error) {
	err = lockprogram.Retry(ctx, 0, func(ctx context.Context) (err error) {
		x, err = l.attempt(ctx, resource, ttl, (*concurrency.Mutex).Lock)
		return err
	})
	return x, err
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
	x := &lease{locker: l, session: session, mutex: concurrency.NewMutex(session, resource), ttl: ttl, Term: lockprogram.NewTerm(lockprogram.Forever())}
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

// ask makes a request until it is answered, of one member after the other. The library asks one, and waits.
func ask(ctx context.Context, ttl time.Duration, request func(context.Context) error) (asked int, err error) {
	return lockprogram.Ask(clientv3.WithRequireLeader(ctx), ttl/5, ttl/100, func(ctx context.Context) error { return definite(request(ctx)) })
}

// definite is what an error says: a lease that the cluster does not know is over.
func definite(err error) error {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return lockprogram.Refused(err)
	}
	return err
}

// lease is a mutex that is held, under a session of its own.
type lease struct {
	*locker
	*lockprogram.Term
	session *concurrency.Session
	mutex   *concurrency.Mutex
	ttl     time.Duration
	token   int64
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
	x.token = key.Kvs[0].CreateRevision
	if x.counts {
		until, err := x.keepAlive(ctx)
		if err != nil {
			return err
		}
		x.Term = lockprogram.NewTerm(until)
	}
	done := x.session.Done()
	if x.untilTold {
		done = nil // which comes, too, when no answer has come for a TTL
	}
	go x.Keep(x.ttl/3, done, x.keepAlive)
	return nil
}

// keepAlive has the lease last for a TTL. It says until when it does at least, if the client counts.
func (x *lease) keepAlive(ctx context.Context) (until time.Time, err error) {
	if !x.counts && !x.untilTold {
		return until, nil // the library does
	}
	_, err = ask(ctx, x.ttl, func(ctx context.Context) error {
		if x.counts {
			until = time.Now().Add(x.ttl)
		}
		_, err := x.client.KeepAliveOnce(ctx, x.session.Lease())
		return err
	})
	return until, err
}

// Unlock ends the session, and the mutex's key with it.
func (x *lease) Unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, x.ttl)
	defer cancel()
	x.Release()
	x.session.Orphan()
	asked, err := ask(ctx, x.ttl, func(ctx context.Context) error {
		_, err := x.client.Revoke(ctx, x.session.Lease())
		return err
	})
	if asked > 1 && errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil // by an earlier request
	}
	return err
}

func (x *lease) Token() (int64, bool) { return x.token, true }
