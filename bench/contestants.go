//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// What all contestants are given alike.
const (
	ttl = 10 * time.Second

	// nodeTimeout is how long one server is waited for. It is redsync's default for this TTL, a twentieth; the queues of
	// 512 callers on a small machine are well within it.
	nodeTimeout = ttl / 20

	// Whoever finds a lock taken, and is not told when it is free, asks again after a random delay of that range: the
	// default of redlock, and near redsync's, which is 50 to 250 ms.
	minRetry = 50 * time.Millisecond
	maxRetry = 150 * time.Millisecond
)

// retryDelay draws such a delay.
func retryDelay() time.Duration { return minRetry + rand.N(maxRetry-minRetry) }

// contestant is one way to take locks.
type contestant struct {
	name    string
	what    string // how it is set up and why, for the page
	servers int    // how many it takes a lock on
	redsync bool   // it is redsync: the others are compared with the best of these
	renews  bool   // its lockers are holders
	floor   bool   // it is what the others are measured against, where nothing is wrong and no caller waits for another

	// open gets ready to use the servers.
	open func(ctx context.Context, addrs []string) (locker, error)
}

// locker is a contestant at work. It is safe for concurrent use.
type locker interface {
	// lock waits for the lock until ctx ends.
	lock(ctx context.Context, key string) (held, error)

	close()
}

// separable is a locker whose callers can be told apart: those of one client of this library wait for each other inside it, so
// that callers who are to contend at the servers, as those of the other contestants do, need a client each.
type separable interface {
	// separate gives the locker for one more caller, over the same connections. It ends with the one that it is of.
	separate() (locker, error)
}

// held is a lock that was granted.
type held interface {
	Unlock(ctx context.Context) error
}

// holder is a locker that can renew what it holds.
type holder interface {
	// hold takes the lock, calls granted, and keeps the lock renewed every third of its TTL until ctx ends; then it releases
	// the lock. An error means that the lock was lost or never taken.
	hold(ctx context.Context, key string, granted func()) error
}

var contestants = []contestant{
	{
		name:    "redlock",
		what:    "This library with its defaults: the commands of concurrent callers go to a server in batches.",
		servers: clusterSize,
		renews:  true,
		open:    openRedlock(),
	},
	{
		name:    "redlock, batching",
		what:    "With WithBatching(1): only one command may be in flight to each server, so batches are as large as possible.",
		servers: clusterSize,
		renews:  true,
		open:    openRedlock(oneBatch),
	},
	{
		name:    "redlock, guard",
		what:    "With WithRestartGuard: a server that restarted does not vote until the locks it may have forgotten have expired. No other contestant has this.",
		servers: clusterSize,
		renews:  true,
		open:    openRedlock(guarding),
	},
	{
		name:    "redlock, wake-up",
		what:    "With WithWakeUp: releases are published, and waiters try again at once.",
		servers: clusterSize,
		open:    openRedlock(wakingUp),
	},
	{
		name:    "redlock, rueidis",
		what:    "With its defaults on rueidis, which has one connection for all commands, instead of go-redis.",
		servers: clusterSize,
		open:    openOnRueidis,
	},
	{
		name: "redsync",
		what: "redsync with its defaults, which waits for all servers. Up to 128 connections to each: with fewer, callers queue for those to a slow server; " +
			"with more, the servers are slower.",
		servers: clusterSize,
		redsync: true,
		open:    openRedsync(false, 128),
	},
	{
		name:    "redsync, fail-fast",
		what:    "With WithFailFast, which returns at the quorum, and go-redis' default pools, which are the fastest while all servers are well.",
		servers: clusterSize,
		redsync: true,
		renews:  true,
		open:    openRedsync(true, 0),
	},
	{
		name:    "redsync, fail-fast, 128",
		what:    "The same with up to 128 connections to each server, for the case that one of them is slow.",
		servers: clusterSize,
		redsync: true,
		open:    openRedsync(true, 128),
	},
	{
		name: "bare go-redis",
		what: "No library: SET NX PX to all servers in parallel, returning at the quorum; on each server the releasing script follows its SET. " +
			"No validity, no drift, no context: the minimum that a lock over go-redis costs without batches.",
		servers: clusterSize,
		open:    openBare,
	},
	{
		name: "bytes in batches",
		what: "No library at all: the bytes of the commands, one write to each server for all that callers want by then, and answers that are looked at and not decoded. " +
			"No timeouts, no validity, no contexts, no lost connections: the minimum that a lock costs in batches.",
		servers: clusterSize,
		floor:   true,
		open:    openBytes,
	},
	{
		name:    "redislock, one server",
		what:    "bsm/redislock, which uses one server: without a majority, no lock outlives that server.",
		servers: 1,
		open:    openRedislock,
	},
	{
		name: "rueidislock, one server",
		what: "rueidislock with KeyMajority 1 and NoLoopTracking, as its README has it for one server. Its majorities are of keys in one Redis or Redis Cluster, " +
			"where several keys may be on one server; it cannot be given five independent ones. It renews every lock by itself and learns of releases by client tracking.",
		servers: 1,
		renews:  true,
		open:    openRueidislock,
	},
}

// peerOptions are those of the go-redis clients of all contestants but redlock, whose adapter has its own. They suit a
// lock as those do: no retries (a lost reply makes SET NX answer "no" to its own value), deadlines that reach the
// connection, no second dial, one pool, and none of the requests that set up a connection only to name the client. The
// timeouts of the client end what is sent without a deadline, such as redsync's release. A pool size of zero is go-redis'
// default.
func peerOptions(addr string, poolSize int) *redis.Options {
	return &redis.Options{
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
	}
}

// clients are go-redis clients, one for each server.
type clients []*redis.Client

func openPeers(addrs []string, poolSize int) clients {
	all := make(clients, len(addrs))
	for i, addr := range addrs {
		all[i] = redis.NewClient(peerOptions(addr, poolSize))
	}
	return all
}

func (c clients) close() {
	for _, client := range c {
		_ = client.Close()
	}
}
