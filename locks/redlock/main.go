// Command redlock is the lock program of this project's own library on go-redis: what users of it run, goroutines, pools and
// batches and all.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/lockprogram"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

func main() {
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		options, err := settings(env)
		if err != nil {
			return nil, err
		}
		opener := goredis.Opener{Options: func(o *redis.Options) { o.Dialer = env.Dial }}
		nodes, err := opener.Open(env.Nodes...)
		if err != nil {
			return nil, err
		}
		client, err := redlock.New(nodes, options...)
		return locker{client}, err
	})
}

// settings are the library's options for what a scenario asks for.
func settings(env lockprogram.Env) ([]redlock.Option, error) {
	var s struct {
		Quorum     int
		Fencing    bool
		WakeUp     lockprogram.Duration `json:"wake-up"`
		Batching   int
		LossLead   lockprogram.Duration                     `json:"loss-lead"`
		CounterTTL lockprogram.Duration                     `json:"counter-ttl"`
		RetryDelay *struct{ Min, Max lockprogram.Duration } `json:"retry-delay"`
		Drift      *struct {
			Factor   string
			Constant lockprogram.Duration
		}
		Guard *struct {
			MaxTTL         lockprogram.Duration `json:"max-ttl"`
			TrustNodeClock bool                 `json:"trust-node-clock"`
		}
	}
	if err := env.Read(&s); err != nil {
		return nil, err
	}
	options := []redlock.Option{redlock.WithNodeTimeout(env.NodeTimeout)}
	add := func(is bool, o redlock.Option) {
		if is {
			options = append(options, o)
		}
	}
	add(s.Quorum != 0, redlock.WithQuorum(s.Quorum))
	add(s.Fencing, redlock.WithFencing(redlock.Fencing{CounterTTL: time.Duration(s.CounterTTL)}))
	add(s.WakeUp != 0, redlock.WithWakeUp(time.Duration(s.WakeUp)))
	add(s.Batching != 0, redlock.WithBatching(s.Batching))
	add(s.LossLead != 0, redlock.WithLossLead(time.Duration(s.LossLead)))
	if d := s.RetryDelay; d != nil {
		add(true, redlock.WithRetryDelay(time.Duration(d.Min), time.Duration(d.Max)))
	}
	if d := s.Drift; d != nil {
		add(true, redlock.WithDrift(redlock.Drift{Factor: d.Factor, Constant: time.Duration(d.Constant)}))
	}
	if g := s.Guard; g != nil {
		add(true, redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Duration(g.MaxTTL), TrustNodeClock: g.TrustNodeClock}))
	}
	return options, nil
}

type locker struct{ *redlock.Client }

func (locker) About() lockprogram.About {
	return lockprogram.About{Library: "redlock", Version: "of this module", Extends: true, TellsUntil: true, Warns: true, Fences: true,
		Settings: []string{"quorum", "fencing", "wake-up", "batching", "loss-lead", "counter-ttl", "retry-delay", "drift", "guard"}}
}

func (l locker) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return granted(l.Client.TryLock(ctx, resource, ttl))
}

func (l locker) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return granted(l.Client.Lock(ctx, resource, ttl))
}

// granted is what an acquire came to: the library takes back what it got of a lock that it does not grant.
func granted(l *redlock.Lease, err error) (lockprogram.Lease, error) {
	if err != nil {
		return nil, lockprogram.Refused(err)
	}
	return lease{l}, nil
}

// Prepare implements lockprogram.Preparer.
func (l locker) Prepare(ctx context.Context) error { return l.PrepareGuard(ctx) }

// Close implements lockprogram.Closer.
func (l locker) Close(ctx context.Context) error { return l.Client.Close(ctx) }

type lease struct{ *redlock.Lease }

func (l lease) Unlock(ctx context.Context) error { return over(l.Lease.Unlock(ctx)) }

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	return over(l.Lease.Extend(ctx, ttl))
}

// Expiring implements lockprogram.Warning: the context of a lease ends before the lease.
func (l lease) Expiring() <-chan struct{} { return l.Context().Done() }

// over is what an error says of a lease.
func over(err error) error {
	if errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased) {
		return lockprogram.Refused(err)
	}
	return err
}
