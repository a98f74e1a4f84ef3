//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"

	"redlocksim/internal/quorum"

	"github.com/redis/go-redis/v9"
)

var bareRelease = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// bare is what one would write by hand with go-redis, if speed were all.
type bare struct{ clients }

func openBare(_ context.Context, addrs []string) (locker, error) {
	return bare{openPeers(addrs, 0)}, nil
}

// bareLock is an attempt on all servers. Each server has a goroutine, which sets the key, waits for the release, and
// releases: so a release never overtakes its SET.
type bareLock struct {
	release  chan struct{} // closed
	acquired chan bool
	released chan bool
}

var errNoQuorum = errors.New("no quorum")

func (b bare) lock(ctx context.Context, key string) (held, error) {
	for {
		l := b.attempt(ctx, key)
		if agreed(l.acquired, cap(l.acquired)) {
			return l, nil
		}
		_ = l.Unlock(ctx) // most servers have nothing to release
		if sleep(ctx, retryDelay()); ctx.Err() != nil {
			return nil, ctx.Err()
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
		return errNoQuorum
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
