// Command zookeeper is the lock program of github.com/go-zookeeper/zk: its lock recipe, under a session for each lock.
//
// A client believes in the lock until it is told that its session has expired. With --count it counts as well, and believes no
// longer than nine tenths of the TTL from when it sent the last sync that was answered.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"redlocksim/lockprogram"
	"redlocksim/lockprogram/lines"
)

func main() {
	l := &locker{}
	flag.BoolVar(&l.counts, "count", false, "count the TTL from the last sync that was answered")
	flag.Parse()
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		l.env = env
		var own struct{ Belief string }
		err := env.Read(&own)
		l.counts = l.counts && own.Belief != "told"
		return l, err
	})
}

type locker struct {
	env    lockprogram.Env
	counts bool
}

func (l *locker) About() lockprogram.About {
	return lockprogram.About{Library: "zk", Version: lockprogram.Version("github.com/go-zookeeper/zk"), Server: lines.ZooKeeper,
		Protocols: []string{"consensus"}, Settings: []string{"belief"}, TellsUntil: true, TellsLost: true, Fences: true, Renews: true}
}

// TryLock asks first whether anybody has the lock or waits for it: the library's recipe always waits.
func (l *locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return l.attempt(ctx, resource, ttl, true)
}

// Lock begins anew with another session after a TTL, or when one has come to nothing: the library waits for as long as it
// takes.
func (l *locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return lockprogram.LockByTrying(ctx, func(ctx context.Context) (lockprogram.Lease, error) { return l.attempt(ctx, resource, ttl, false) })
}

// attempt opens a session and takes the lock under it, within a TTL. A session that comes to nothing is closed, as is one that
// is not there soon: with a member that does not answer the library has the patience of almost seven TTLs.
func (l *locker) attempt(ctx context.Context, resource string, ttl time.Duration, onlyIfFree bool) (lockprogram.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, ttl)
	defer cancel()
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return l.env.Dial(ctx, network, address)
	}
	conn, events, err := zk.Connect(l.env.Nodes, ttl, zk.WithDialer(dial), zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return nil, err
	}
	path := "/" + url.PathEscape(resource)
	x := &lease{locker: l, conn: conn, path: path, mutex: zk.NewLock(conn, path, zk.WorldACL(zk.PermAll)), ttl: ttl,
		opened: make(chan struct{}), expired: make(chan struct{})}
	go x.watch(events)
	select {
	case <-x.opened:
		err = answer(ctx, func() error { return x.begin(onlyIfFree) })
	case <-time.After(ttl / 5):
		err = lockprogram.Refused(zk.ErrNoServer) // and nobody was asked for the lock
	}
	if err != nil {
		go conn.Close()
		return nil, err
	}
	go x.Keep(ttl/4, x.expired, x.sync)
	return x, nil
}

// answer waits for the library, which itself waits for as long as it takes.
func answer(ctx context.Context, call func() error) error {
	answered := make(chan error, 1)
	go func() { answered <- call() }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lease is a mutex that is held, under a session of its own.
type lease struct {
	*locker
	*lockprogram.Term
	conn    *zk.Conn
	path    string
	mutex   *zk.Lock
	ttl     time.Duration
	token   int64
	opened  chan struct{} // closed when there is a session
	expired chan struct{} // closed when there is none any more
}

// watch notices the beginning of the session, and its end. The library then goes on with another one, which has no lock.
func (x *lease) watch(events <-chan zk.Event) {
	open := sync.OnceFunc(func() { close(x.opened) })
	for e := range events {
		switch e.State {
		case zk.StateHasSession:
			open()
		case zk.StateExpired:
			close(x.expired)
			return
		}
	}
}

// begin takes the lock, and learns the token, which is the transaction that created the lock's node.
func (x *lease) begin(onlyIfFree bool) error {
	if onlyIfFree {
		if waiting, _, err := x.conn.Children(x.path); err == nil && len(waiting) > 0 {
			return lockprogram.Refused(errors.New("another session has the lock, or waits for it"))
		} else if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	if err := x.mutex.Lock(); err != nil {
		return err
	}
	nodes, _, err := x.conn.Children(x.path)
	if err != nil || len(nodes) == 0 {
		return cmp.Or(err, zk.ErrSessionExpired)
	}
	number := func(node string) string { return node[max(0, len(node)-10):] } // ten digits
	_, stat, err := x.conn.Get(x.path + "/" + slices.MinFunc(nodes, func(a, b string) int { return cmp.Compare(number(a), number(b)) }))
	switch {
	case err != nil:
		return err
	case stat.EphemeralOwner != x.conn.SessionID():
		return zk.ErrSessionExpired
	}
	x.token, x.Term = stat.Czxid, lockprogram.NewTerm(lockprogram.Forever())
	if x.counts {
		until, err := x.sync(context.Background())
		x.Term = lockprogram.NewTerm(until)
		return err
	}
	return nil
}

// sync has the leader answer, and says until when the session lasts at least, if the client counts: the library keeps it
// alive. The leader hears of a session from the member that the client talks to, some ticks later, hence the tenth.
func (x *lease) sync(ctx context.Context) (until time.Time, err error) {
	if !x.counts {
		return until, nil
	}
	until = time.Now().Add(x.ttl * 9 / 10)
	return until, answer(ctx, func() error {
		_, err := x.conn.Sync(x.path)
		return err
	})
}

// Unlock deletes the lock's node, and closes the session.
func (x *lease) Unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, x.ttl)
	defer cancel()
	x.Release()
	defer func() { go x.conn.Close() }()
	return answer(ctx, func() error {
		asked, err := lockprogram.Ask(ctx, x.ttl, x.ttl/100, func(context.Context) error {
			err := x.mutex.Unlock()
			if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrSessionExpired) {
				return lockprogram.Refused(err)
			}
			return err
		})
		if asked > 1 && errors.Is(err, zk.ErrNoNode) {
			return nil // by an earlier request
		}
		return err
	})
}

func (x *lease) Token() (int64, bool) { return x.token, true }
