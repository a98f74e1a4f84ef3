package protocols

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim/database"
)

// dbUnique is a row in a table with a unique index: INSERT takes the lock, DELETE gives it back. It is no Redis protocol,
// and the same on both tiers; the database runs on the first node. A row has no time to live: its client believes until
// it deletes it, whatever a clean-up job does meanwhile.
type dbUnique struct {
	session
	host *Simulated
	db   *database.Database
}

var dbUniqueProtocol = Protocol{Name: "db-unique", New: newDBUnique, own: DBUniqueSettings{RetrySettings: defaultRetry()},
	Capabilities: Capabilities{Service: "database"}}

// DBUniqueSettings are those of protocol db-unique.
type DBUniqueSettings struct {
	RetrySettings `yaml:",inline"`
	// CleanUp is the age at which a job of the database deletes rows; 0s is never. Default: 0s. Example: 30s
	CleanUp time.Duration `yaml:"clean-up"`
}

// Check implements Own.
func (own DBUniqueSettings) Check(s Settings, _ int) error {
	if own.CleanUp < 0 {
		return fmt.Errorf("clean-up %v is negative", own.CleanUp)
	}
	return cmp.Or(own.RetrySettings.check(), s.checkTTL())
}

func (own DBUniqueSettings) faster(by time.Duration) Own {
	own.RetrySettings = own.RetrySettings.shortened(by)
	own.CleanUp /= by
	return own
}

func newDBUnique(env Env) (Locker, error) {
	h, err := env.simulated()
	if err != nil {
		return nil, err
	}
	return &dbUnique{session{env: env, clock: env.LockClock()}, h, database.Of(h.World, Of[DBUniqueSettings](env.Settings).CleanUp)}, nil
}

func (x *dbUnique) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.retry(ctx, resource, ttl, x.TryLock)
}

func (x *dbUnique) TryLock(ctx context.Context, resource string, _ time.Duration) (Lease, error) {
	name, err := x.value()
	if err != nil {
		return nil, err
	}
	result, err := x.db.Insert(x.host.Process, x.host.Key(), x.deadline(), resource, name)
	switch {
	case err != nil:
		return nil, err
	case result == database.Locked:
		return nil, redlock.ErrTaken
	}
	x.env.Believe(ctx, time.Time{})
	return &dbUniqueLease{x, resource, name}, nil
}

func (x *dbUnique) deadline() time.Time { return x.clock.Now().Add(x.env.Settings.NodeTimeout) }

// dbUniqueLease is a row that is there.
type dbUniqueLease struct {
	*dbUnique
	resource, name string
}

func (l *dbUniqueLease) Until() time.Time         { return time.Time{} }
func (l *dbUniqueLease) Context() context.Context { return context.Background() }
func (l *dbUniqueLease) Token() (int64, bool)     { return 0, false }

// Holder implements Standing.
func (l *dbUniqueLease) Holder() string { return l.name }

// Extend sets the row's time anew, so that a clean-up job counts from now. There is no other time to live.
func (l *dbUniqueLease) Extend(context.Context, time.Duration) error {
	return outcome(l.db.Touch(l.host.Process, l.host.Key(), l.deadline(), l.resource, l.name))
}

func (l *dbUniqueLease) Unlock(context.Context) error {
	return outcome(l.db.Delete(l.host.Process, l.host.Key(), l.deadline(), l.resource, l.name))
}
