package main

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	rueidisclient "github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"redlocksim/internal/quorum"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/rueidis"
)

// What all contestants are given alike.
const (
	ttl        = 10 * time.Second
	renewEvery = ttl / 3

	// nodeTimeout is how long one server is waited for. It is redsync's default for this TTL, a twentieth; the queues of
	// 512 callers on a small machine are well within it.
	nodeTimeout = ttl / 20

	// The peers that find a lock taken, and are not told when it is free, ask again after a random delay of that range, which
	// is near redsync's default of 50 to 250 ms; redislock has none.
	minRetry = 50 * time.Millisecond
	maxRetry = 150 * time.Millisecond
)

// retryDelay draws such a delay.
func retryDelay() time.Duration { return minRetry + mathrand.N(maxRetry-minRetry) }

// contestant is one way to take locks.
type contestant struct {
	name    string
	servers int  // how many it takes a lock on
	renews  bool // its lockers are holders
	open    func(addrs []string) (locker, error)
}

// locker is a contestant at work. It is safe for concurrent use.
type locker interface {
	// lock waits for the lock until ctx ends.
	lock(ctx context.Context, key string) (held, error)

	close()
}

// held is a lock that was granted.
type held interface {
	Unlock(ctx context.Context) error
}

// holder is a locker that can renew what it holds.
type holder interface {
	// hold takes the lock, calls granted, and keeps the lock renewed every renewEvery until ctx ends; then it releases the
	// lock. An error means that the lock was lost or never taken.
	hold(ctx context.Context, key string, granted func()) error
}

var contestants = []contestant{
	// This library with its defaults: the commands of concurrent callers go to a server in batches.
	{"redlock", clusterSize, true, openRedlock()},
	// A server that restarted does not vote until the locks it may have forgotten have expired. No other contestant has this.
	{"redlock-guard", clusterSize, true, openRedlock(redlock.WithRestartGuard(redlock.Guard{MaxTTL: ttl}))},
	// Releases are published, and waiters try again at once.
	{"redlock-wakeup", clusterSize, false, openRedlock(redlock.WithWakeUp(10 * time.Millisecond))},
	{"redlock-rueidis", clusterSize, false, openOnRueidis},
	// redsync with its defaults waits for all servers. Up to 128 connections to each: with fewer, callers queue for those to a
	// slow server; with more, the servers are slower.
	{"redsync", clusterSize, false, openRedsync(false, 128)},
	// WithFailFast returns at the quorum, and the default pools are the fastest while all servers are well.
	{"redsync-failfast", clusterSize, true, openRedsync(true, 0)},
	{"redsync-failfast-128", clusterSize, false, openRedsync(true, 128)},
	// No library: the minimum that a lock over go-redis costs without batches.
	{"bare-go-redis", clusterSize, false, openBare},
	// Locks on one server, which no lock outlives.
	{"redislock", 1, false, openRedislock},
	{"rueidislock", 1, true, openRueidislock},
}

// opened opens the contestant on as many of the servers as it takes locks on.
func (who *contestant) opened(addrs []string) (locker, error) { return who.open(addrs[:who.servers]) }

// redlockLocker is a client of this library.
type redlockLocker struct {
	client *redlock.Client
	closes func() // ends the connections
}

func openRedlock(options ...redlock.Option) func([]string) (locker, error) {
	return func(addrs []string) (locker, error) {
		var connected clients
		var nodes []driver.Node
		for _, addr := range addrs {
			client := goredis.NewClient(&redis.Options{Addr: addr})
			client.AddHook(counting{})
			connected = append(connected, client)
			node, err := goredis.NewNode(client)
			if err != nil {
				connected.close()
				return nil, err
			}
			nodes = append(nodes, node)
		}
		return openOn(nodes, connected.close, options...)
	}
}

func openOnRueidis(addrs []string) (locker, error) {
	nodes, err := rueidis.Open(addrs...)
	if err != nil {
		return nil, err
	}
	return openOn(nodes, func() { _ = nodes.Close() })
}

// openOn makes a client on nodes, and closes their connections with it.
func openOn(nodes []driver.Node, closes func(), options ...redlock.Option) (locker, error) {
	client, err := redlock.New(nodes, append([]redlock.Option{redlock.WithNodeTimeout(nodeTimeout)}, options...)...)
	if err != nil {
		closes()
		return nil, err
	}
	return redlockLocker{client, closes}, nil
}

func (l redlockLocker) lock(ctx context.Context, key string) (held, error) {
	lease, err := l.client.Lock(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (l redlockLocker) hold(ctx context.Context, key string, granted func()) error {
	forever := redlock.Renewal{Period: renewEvery, Limit: redlock.Unlimited, MaxTime: redlock.Unlimited}
	return l.client.Hold(ctx, key, ttl, forever, func(ctx context.Context, _ *redlock.Lease) error {
		granted()
		<-ctx.Done()
		return nil
	})
}

func (l redlockLocker) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 4*nodeTimeout) // closing takes three at most
	defer cancel()
	_ = l.client.Close(ctx)
	l.closes()
}

// clients are go-redis clients of a contestant, one for each server. They suit a lock as those of the library's adapter do: no
// retries (a lost reply makes SET NX answer "no" to its own value), deadlines that reach the connection, no second dial, one
// pool, and none of the requests that set up a connection only to name the client. Their timeouts end what is sent without a
// deadline, such as redsync's release.
type clients []*redis.Client

// openPeers opens them; a pool size of zero is go-redis' default.
func openPeers(addrs []string, poolSize int) clients {
	all := make(clients, len(addrs))
	for i, addr := range addrs {
		all[i] = redis.NewClient(&redis.Options{
			Addr:                     addr,
			PoolSize:                 poolSize,
			PipelinePoolSize:         -1,
			Protocol:                 2,
			MaxRetries:               -1,
			DialTimeout:              time.Second,
			DialerRetries:            1,
			ReadTimeout:              nodeTimeout,
			WriteTimeout:             nodeTimeout,
			PoolTimeout:              nodeTimeout,
			ContextTimeoutEnabled:    true,
			DisableIdentity:          true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		all[i].AddHook(counting{})
	}
	return all
}

// sent is how many commands all go-redis clients of contestants have sent. What a script does on a server is one.
var sent atomic.Int64

// counting counts them.
type counting struct{}

func (counting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		sent.Add(1)
		return next(ctx, cmd)
	}
}

func (counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		sent.Add(int64(len(cmds)))
		return next(ctx, cmds)
	}
}

func (c clients) close() {
	for _, client := range c {
		_ = client.Close()
	}
}

type redsyncLocker struct {
	clients
	redsync *redsync.Redsync
	options []redsync.Option
}

func openRedsync(failFast bool, poolSize int) func([]string) (locker, error) {
	return func(addrs []string) (locker, error) {
		l := &redsyncLocker{clients: openPeers(addrs, poolSize)}
		var pools []redsyncredis.Pool
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

// hold renews with a loop, as users of redsync write it, since the library has none.
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
			if ok, err := mutex.ExtendContext(context.WithoutCancel(ctx)); !ok {
				return errors.Join(errors.New("not extended"), err)
			}
		}
	}
}

// bare is what one would write by hand with go-redis, if speed were all: SET NX PX to all servers in parallel, returning at
// the quorum, and on each server the releasing script after its SET. It has no validity, no drift, no context.
type bare struct{ clients }

func openBare(addrs []string) (locker, error) { return bare{openPeers(addrs, 0)}, nil }

var bareRelease = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// bareLock is an attempt on all servers. Each server has a goroutine, which sets the key, waits for the release, and
// releases: so a release never overtakes its SET.
type bareLock struct {
	release            chan struct{} // closed
	acquired, released chan bool
}

func (b bare) lock(ctx context.Context, key string) (held, error) {
	for {
		l := b.attempt(ctx, key)
		if agreed(l.acquired, cap(l.acquired)) {
			return l, nil
		}
		_ = l.Unlock(ctx) // most servers have nothing to release
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryDelay()):
		}
	}
}

func (b bare) attempt(ctx context.Context, key string) *bareLock {
	n := len(b.clients)
	l := &bareLock{make(chan struct{}), make(chan bool, n), make(chan bool, n)}
	value := rand.Text()
	always := context.WithoutCancel(ctx)
	for _, client := range b.clients {
		go func() {
			ok, err := client.SetNX(ctx, key, value, ttl).Result()
			l.acquired <- ok && err == nil
			<-l.release
			deleted, err := bareRelease.Run(always, client, []string{key}, value).Int()
			l.released <- err == nil && deleted == 1
		}()
	}
	return l
}

func (l *bareLock) Unlock(context.Context) error {
	close(l.release)
	if !agreed(l.released, cap(l.released)) {
		return errors.New("no quorum")
	}
	return nil
}

// agreed waits until most of n have said yes, or can no longer.
func agreed(answers <-chan bool, n int) bool {
	yes, no := 0, 0
	for yes < quorum.Majority(n) && n-no >= quorum.Majority(n) {
		if <-answers {
			yes++
		} else {
			no++
		}
	}
	return yes >= quorum.Majority(n)
}

type redislockLocker struct {
	clients
	client *redislock.Client
}

func openRedislock(addrs []string) (locker, error) {
	l := &redislockLocker{clients: openPeers(addrs, 0)}
	l.client = redislock.New(l.clients[0])
	return l, nil
}

// randomBackoff is the delay of all contestants as redislock wants it.
type randomBackoff struct{}

func (randomBackoff) NextBackoff() time.Duration { return retryDelay() }

func (l *redislockLocker) lock(ctx context.Context, key string) (held, error) {
	lock, err := l.client.Obtain(ctx, key, ttl, &redislock.Options{RetryStrategy: randomBackoff{}})
	if err != nil {
		return nil, err
	}
	return redislockLock{lock}, nil
}

type redislockLock struct{ lock *redislock.Lock }

func (l redislockLock) Unlock(ctx context.Context) error { return l.lock.Release(ctx) }

// rueidisLocker renews every lock by itself and learns of releases by client tracking. Its majorities are of keys in one
// Redis or Redis Cluster, so that it cannot be given five independent servers.
type rueidisLocker struct{ rueidislock.Locker }

func openRueidislock(addrs []string) (locker, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidisclient.ClientOption{InitAddress: addrs, ForceSingleClient: true},
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
	_, release, err := l.WithContext(ctx, key)
	if err != nil {
		return nil, err
	}
	return rueidisLock{release}, nil
}

func (l rueidisLocker) hold(ctx context.Context, key string, granted func()) error {
	lock, release, err := l.WithContext(context.WithoutCancel(ctx), key)
	if err != nil {
		return err
	}
	defer release()
	granted()
	select {
	case <-ctx.Done():
		return nil
	case <-lock.Done():
		return errors.New("lost")
	}
}

func (l rueidisLocker) close() { l.Locker.Close() }

type rueidisLock struct{ release context.CancelFunc }

// Unlock cannot say whether the release was confirmed.
func (l rueidisLock) Unlock(context.Context) error {
	l.release()
	return nil
}
