package main

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"redlocksim/lockprogram"
)

// unique is a row in a table with a unique index. Nothing ends it but its owner, or a job that deletes old rows.
type unique struct {
	*database
	numbered atomic.Int64
}

func newUnique(d *database) (lockprogram.Locker, error) {
	var own struct {
		CleanUp lockprogram.Duration `json:"clean-up"`
	}
	if err := d.env.Read(&own); err != nil {
		return nil, err
	}
	u := &unique{database: d}
	if age := time.Duration(own.CleanUp); age > 0 {
		go u.cleanUp(age)
	}
	return u, nil
}

func (*unique) About() lockprogram.About {
	a := about("db-unique", "clean-up")
	a.Extends = true
	return a
}

// cleanUp is the job that deletes old rows. Every client runs it, ten times in the age at which rows are old.
func (u *unique) cleanUp(age time.Duration) {
	for range time.Tick(age / 10) {
		ctx, cancel := within(context.Background(), age)
		if u.prepare(ctx) == nil {
			// What fails is done the next time.
			_, _ = u.Exec(ctx, "DELETE FROM owners WHERE inserted_at < now() - make_interval(secs => $1)", age.Seconds())
		}
		cancel()
	}
}

func (u *unique) TryLock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return u.insert(ctx, u.owner(), resource, ttl)
}

// Lock waits for the lock. The owner is one for all attempts, as one that was not answered may have inserted the row.
func (u *unique) Lock(ctx context.Context, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	owner := u.owner()
	return lockprogram.LockByTrying(ctx, func(ctx context.Context) (lockprogram.Lease, error) { return u.insert(ctx, owner, resource, ttl) })
}

// owner is a new owner.
func (u *unique) owner() string { return u.env.Name + " " + strconv.FormatInt(u.numbered.Add(1), 10) }

// insert inserts the row, unless the owner has.
func (u *unique) insert(ctx context.Context, owner, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	ctx, cancel := within(ctx, ttl)
	defer cancel()
	if err := u.prepare(ctx); err != nil {
		return nil, err
	}
	done, err := u.Exec(ctx, `INSERT INTO owners (resource, owner) VALUES ($1, $2)
		ON CONFLICT (resource) DO UPDATE SET inserted_at = now() WHERE owners.owner = EXCLUDED.owner`, resource, owner)
	if err == nil && done.RowsAffected() == 0 {
		err = lockprogram.Refused(errors.New("another owner has the row"))
	}
	if err != nil {
		return nil, err
	}
	return &uniqueLease{u, resource, owner, ttl}, nil
}

// uniqueLease is a row.
type uniqueLease struct {
	*unique
	resource, owner string
	ttl             time.Duration
}

func (*uniqueLease) Until() time.Time { return lockprogram.Forever() }

// Extend makes the row a new one to the job that deletes old ones.
func (l *uniqueLease) Extend(ctx context.Context, _ time.Duration) error {
	return l.own(ctx, "UPDATE owners SET inserted_at = now() WHERE resource = $1 AND owner = $2")
}

func (l *uniqueLease) Unlock(ctx context.Context) error {
	return l.own(ctx, "DELETE FROM owners WHERE resource = $1 AND owner = $2")
}

// own does something with the row if it is there and the owner's.
func (l *uniqueLease) own(ctx context.Context, sql string) error {
	ctx, cancel := within(ctx, l.ttl)
	defer cancel()
	done, err := l.Exec(ctx, sql, l.resource, l.owner)
	if err == nil && done.RowsAffected() == 0 {
		err = lockprogram.Refused(errors.New("the row is gone"))
	}
	return err
}
