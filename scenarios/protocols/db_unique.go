package protocols

import (
	"context"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim/database"
)

// dbUnique is a row in a table with a unique index: INSERT takes the lock, DELETE gives it back. It is no Redis protocol,
// and the same on both tiers; the database runs on the first node. A row has no time to live: its client believes until
// it deletes it, whatever a clean-up job does meanwhile.
type dbUnique struct {
	session
	db *database.Client
}

var dbUniqueProtocol = Protocol{Name: "db-unique", New: newDBUnique, own: DBUniqueSettings{RetrySettings: defaultRetry()},
	Capabilities: Capabilities{Service: "database"}}

// DBUniqueSettings are those of protocol db-unique.
type DBUniqueSettings struct {
	RetrySettings `yaml:",inline"`
	// CleanUp is the age at which a job of the database deletes rows; 0s is never. Default: 0s. Example: 30s
	CleanUp time.Duration `yaml:"clean-up" range:"0s.."`
}

func newDBUnique(env Env) (Locker, error) {
	s, db, err := newDatabaseClient(env, Of[DBUniqueSettings](env.Settings).CleanUp)
	return &dbUnique{s, db}, err
}

func (x *dbUnique) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.retry(ctx, func() (Lease, error) { return x.TryLock(ctx, resource, ttl) })
}

func (x *dbUnique) TryLock(ctx context.Context, resource string, _ time.Duration) (Lease, error) {
	name, err := x.value()
	if err != nil {
		return nil, err
	}
	result, err := x.db.Insert(resource, name)
	switch {
	case err != nil:
		return nil, err
	case result == database.Locked:
		return nil, redlock.ErrTaken
	}
	x.env.Believe(ctx, time.Time{})
	return &dbUniqueLease{x, held{ctx: ctx}, resource, name}, nil
}

// dbUniqueLease is a row that is there.
type dbUniqueLease struct {
	*dbUnique
	held
	resource, name string
}

// Holder implements Standing.
func (l *dbUniqueLease) Holder() string { return l.name }

// Extend sets the row's time anew, so that a clean-up job counts from now. There is no other time to live.
func (l *dbUniqueLease) Extend(context.Context, time.Duration) error {
	return outcome(l.db.Touch(l.resource, l.name))
}

func (l *dbUniqueLease) Unlock(context.Context) error {
	return outcome(l.db.Delete(l.resource, l.name))
}
