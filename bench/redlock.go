//go:build linux

package main

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/rueidis"
)

type redlockLocker struct {
	client  *redlock.Client
	closes  interface{ close() }            // the connections; nil if they are another's
	another func() (*redlock.Client, error) // over the same nodes

	mu        sync.Mutex
	separated []*redlock.Client
}

// variant is an option of the library that makes a contestant of its own, and what must be done before the first lock.
type variant struct {
	option  redlock.Option
	prepare func(ctx context.Context, c *redlock.Client) error // nil: nothing
}

var (
	oneBatch = variant{option: redlock.WithBatching(1)}
	guarding = variant{
		option:  redlock.WithRestartGuard(redlock.Guard{MaxTTL: ttl}),
		prepare: func(ctx context.Context, c *redlock.Client) error { return c.PrepareGuard(ctx) },
	}
	wakingUp = variant{option: redlock.WithWakeUp(10 * time.Millisecond)}
)

func openRedlock(variants ...variant) func(context.Context, []string) (locker, error) {
	return func(ctx context.Context, addrs []string) (locker, error) {
		var connected clients
		var nodes []driver.Node
		for _, addr := range addrs {
			client := goredis.NewClient(&redis.Options{Addr: addr})
			connected = append(connected, client)
			node, err := goredis.NewNode(client)
			if err != nil {
				connected.close()
				return nil, err
			}
			nodes = append(nodes, node)
		}
		return openOn(ctx, nodes, connected, variants...)
	}
}

// rueidisNodes are nodes that close themselves.
type rueidisNodes struct{ rueidis.Nodes }

func (n rueidisNodes) close() { _ = n.Close() }

func openOnRueidis(ctx context.Context, addrs []string) (locker, error) {
	nodes, err := rueidis.Open(addrs...)
	if err != nil {
		return nil, err
	}
	return openOn(ctx, nodes, rueidisNodes{nodes})
}

// openOn makes a client on nodes, and closes their connections with it.
func openOn(ctx context.Context, nodes []driver.Node, closes interface{ close() }, variants ...variant) (locker, error) {
	l := &redlockLocker{closes: closes}
	options := []redlock.Option{redlock.WithNodeTimeout(nodeTimeout), redlock.WithRetryDelay(minRetry, maxRetry)}
	for _, v := range variants {
		options = append(options, v.option)
	}
	l.another = func() (*redlock.Client, error) { return redlock.New(nodes, options...) }
	var err error
	if l.client, err = l.another(); err != nil {
		closes.close()
		return nil, err
	}
	for _, v := range variants {
		if v.prepare == nil {
			continue
		}
		if err := v.prepare(ctx, l.client); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func (l *redlockLocker) lock(ctx context.Context, key string) (held, error) {
	lease, err := l.client.Lock(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (l *redlockLocker) separate() (locker, error) {
	client, err := l.another()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.separated = append(l.separated, client)
	return &redlockLocker{client: client}, nil
}

func (l *redlockLocker) hold(ctx context.Context, key string, granted func()) error {
	forever := redlock.Renewal{Period: renewEvery, Limit: redlock.Unlimited, MaxTime: redlock.Unlimited}
	return l.client.Hold(ctx, key, ttl, forever, func(ctx context.Context, _ *redlock.Lease) error {
		granted()
		<-ctx.Done()
		return nil
	})
}

// closeTimeout is more than the three node timeouts that closing takes at most.
const closeTimeout = 4 * nodeTimeout

func (l *redlockLocker) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, client := range append(l.separated, l.client) {
		_ = client.Close(ctx)
	}
	if l.closes != nil {
		l.closes.close()
	}
}
