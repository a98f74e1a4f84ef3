package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"redlocksim/lockprogram"
)

// row is a row that a transaction has locked. The database ends a transaction of which it has not heard for the TTL, and the
// client counts that from when it sent the last statement that was answered.
type row struct{ *database }

func newRow(d *database) (lockprogram.Locker, error) { return row{d}, nil }

func (row) About() lockprogram.About {
	a := about("db-row", "effects")
	a.Extends, a.Transacts, a.TellsLost = true, true, true
	return a
}

func (r row) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	ctx, cancel := within(ctx, ttl)
	defer cancel()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	// A row that a transaction is changing would keep the INSERT waiting, ON CONFLICT or not.
	if _, err := r.Exec(ctx, `INSERT INTO rows (resource) SELECT $1 WHERE NOT EXISTS (SELECT FROM rows WHERE resource = $1)
		ON CONFLICT DO NOTHING`, resource); err != nil {
		return nil, err
	}
	tx, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	l := &rowLease{tx: tx, resource: resource, ttl: ttl, lost: make(chan struct{})}
	if _, err = tx.Exec(ctx, fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = %d", ttl.Milliseconds())); err == nil {
		err = l.statement(ctx, "SELECT FROM rows WHERE resource = $1 FOR UPDATE NOWAIT", resource)
	}
	if err == nil {
		return l, nil
	}
	if isCode(err, lockNotAvailable) {
		err = lockprogram.Refused(err)
	}
	_ = tx.Rollback(ctx) // a connection that is broken ends the transaction, too
	return nil, err
}

// Lock waits for the lock.
func (r row) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return wait(ctx, r, resource, ttl)
}

// rowLease is a transaction.
type rowLease struct {
	tx       pgx.Tx
	resource string
	ttl      time.Duration
	until    time.Time
	once     sync.Once
	lost     chan struct{}
}

// Lost is closed when a statement has failed: that ends the transaction, or pgx has given up its connection.
func (l *rowLease) Lost() <-chan struct{} { return l.lost }

func (l *rowLease) Until() time.Time { return l.until }

// do has something done in the transaction.
func (l *rowLease) do(ctx context.Context, what func(context.Context) error) error {
	ctx, cancel := within(ctx, l.ttl)
	defer cancel()
	sent := time.Now()
	err := what(ctx)
	if err != nil {
		l.once.Do(func() { close(l.lost) })
	}
	switch {
	case err == nil:
		l.until = sent.Add(l.ttl)
	case isCode(err, idleTransactionTimeout):
		err = lockprogram.Refused(err)
	}
	return err
}

// statement carries out a statement in the transaction.
func (l *rowLease) statement(ctx context.Context, sql string, args ...any) error {
	return l.do(ctx, func(ctx context.Context) error {
		_, err := l.tx.Exec(ctx, sql, args...)
		return err
	})
}

// Extend is a statement that does nothing: the TTL begins anew.
func (l *rowLease) Extend(ctx context.Context, _ time.Duration) error {
	return l.statement(ctx, "SELECT 1")
}

// Read reads the number in the row.
func (l *rowLease) Read(ctx context.Context) (number int64, err error) {
	err = l.do(ctx, func(ctx context.Context) error {
		return l.tx.QueryRow(ctx, "SELECT number FROM rows WHERE resource = $1", l.resource).Scan(&number)
	})
	return number, err
}

// Write writes the number in the row, and the note beside it.
func (l *rowLease) Write(ctx context.Context, number int64, note string) error {
	err := l.statement(ctx, "UPDATE rows SET number = $2 WHERE resource = $1", l.resource, number)
	if err == nil {
		err = l.statement(ctx, "INSERT INTO effects (note) VALUES ($1)", note)
	}
	return err
}

func (l *rowLease) Unlock(ctx context.Context) error {
	ctx, cancel := within(ctx, l.ttl)
	defer cancel()
	err := l.tx.Commit(ctx)
	if isCode(err, idleTransactionTimeout) {
		err = lockprogram.Refused(err)
	}
	return err
}
