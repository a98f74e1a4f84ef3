package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"redlocksim/lockprogram"
)

// advisory is a lock of a session, as pg_try_advisory_lock takes it: the connection has it until it unlocks or ends. No time
// ends it. The client asks the database for something three times in a TTL, and believes until that fails.
type advisory struct{ *database }

func newAdvisory(d *database) (lockprogram.Locker, error) { return advisory{d}, nil }

func (advisory) About() lockprogram.About {
	a := about("")
	a.TellsLost = true
	return a
}

func (a advisory) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	ctx, cancel := within(ctx, ttl)
	defer cancel()
	conn, err := a.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	taken := false
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", resource).Scan(&taken)
	if err != nil || !taken {
		conn.Release() // one that a query has failed on is closed
		if err == nil {
			err = lockprogram.Refused(errors.New("another session has the lock"))
		}
		return nil, err
	}
	l := &advisoryLease{conn: conn, resource: resource, ttl: ttl, unlock: make(chan chan error), lost: make(chan struct{})}
	go l.keep()
	return l, nil
}

// Lock waits for the lock.
func (a advisory) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return wait(ctx, a, resource, ttl)
}

// advisoryLease is a connection that has the lock.
type advisoryLease struct {
	conn     *pgxpool.Conn
	resource string
	ttl      time.Duration
	unlock   chan chan error
	lost     chan struct{}
}

func (l *advisoryLease) Until() time.Time      { return lockprogram.Forever() }
func (l *advisoryLease) Lost() <-chan struct{} { return l.lost }

// keep uses the connection, which can be used for one thing at a time: it sees whether it is still there, and unlocks.
func (l *advisoryLease) keep() {
	defer close(l.lost)
	defer l.conn.Release()
	every := time.NewTicker(l.ttl / 3)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			ctx, cancel := within(context.Background(), l.ttl)
			err := l.conn.Ping(ctx)
			cancel()
			if err != nil {
				return
			}
		case answer := <-l.unlock:
			ctx, cancel := within(context.Background(), l.ttl)
			defer cancel()
			had := false
			err := l.conn.QueryRow(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", l.resource).Scan(&had)
			if err == nil && !had {
				err = lockprogram.Refused(errors.New("the session does not have the lock"))
			}
			answer <- err
			return
		}
	}
}

func (l *advisoryLease) Unlock(context.Context) error {
	answer := make(chan error, 1)
	select {
	case l.unlock <- answer:
		return <-answer
	case <-l.lost:
		return lockprogram.Refused(errors.New("the connection was lost"))
	}
}
