package protocols

import (
	"context"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim/database"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// dbRow is a row lock in a database transaction: BEGIN, SELECT … FOR UPDATE NOWAIT, and COMMIT to release. It is no
// Redis protocol, and the same on both tiers; the database runs on the first node. The time to live is the database's
// idle timeout for transactions, which clients know: they believe until it has passed since they sent the last statement
// that was answered. A client that dies is found out by it too. A database that restarts ends its transactions without
// telling clients that are not asking; scenarios about clients leave it up.
type dbRow struct {
	session
	db *database.Client
}

var dbRowProtocol = Protocol{Name: "db-row", New: newDBRow, own: DBRowSettings{RetrySettings: defaultRetry()}, Steps: dbRowSteps,
	Capabilities: Capabilities{Service: "database"}}

// DBRowSettings are those of protocol db-row.
type DBRowSettings struct {
	RetrySettings `yaml:",inline"`
	// Effects is where clients write: to the storage, or in the transaction that holds the lock. Default: storage. Example:
	// transaction
	Effects Effects `yaml:"effects"`
}

// Effects is where clients write.
type Effects uint8

const (
	// InStorage: to the storage, which knows nothing of the lock.
	InStorage Effects = iota
	// InTransaction: in the transaction that holds the lock.
	InTransaction
)

var _ = strictyaml.Enum[Effects]("place for effects").Word("storage", InStorage).Word("transaction", InTransaction)

// The steps of protocol db-row.
var dbRowSteps = []string{committed, rolledBack}

const (
	committed  = "committed"
	rolledBack = "rolled-back"
)

func newDBRow(env Env) (Locker, error) {
	s, db, err := newDatabaseClient(env, 0)
	return &dbRow{s, db}, err
}

// newDatabaseClient makes a client of the database, which is a part of the simulator.
func newDatabaseClient(env Env, cleanUp time.Duration) (session, *database.Client, error) {
	h, err := env.simulated()
	if err != nil {
		return session{}, nil, err
	}
	clock := env.LockClock()
	return session{env: env, clock: clock}, database.Of(h.World, cleanUp).Client(h.Process, func() (kernel.Key, time.Time) {
		return h.Key(), clock.Now().Add(env.Settings.NodeTimeout)
	}), nil
}

func (x *dbRow) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.retry(ctx, func() (Lease, error) { return x.TryLock(ctx, resource, ttl) })
}

func (x *dbRow) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	name, err := x.value()
	if err != nil {
		return nil, err
	}
	sent := x.clock.Now()
	result, err := x.db.Begin(name, resource, ttl)
	switch {
	case err != nil:
		return nil, err
	case result == database.Locked:
		return nil, redlock.ErrTaken
	}
	l := &dbRowLease{dbRow: x, held: held{ctx: ctx, ttl: ttl}, name: name}
	l.answered(sent)
	if Of[DBRowSettings](x.env.Settings).Effects == InTransaction {
		return &dbRowTransaction{dbRowLease: l}, nil
	}
	return l, nil
}

// dbRowLease is a row that a transaction has locked.
type dbRowLease struct {
	*dbRow
	held
	name string
}

// Holder implements Standing.
func (l *dbRowLease) Holder() string { return l.name }

// answered takes note that a statement that was sent then has been answered: the database counts from a later moment.
func (l *dbRowLease) answered(sent time.Time) { l.believe(l.env, sent.Add(l.ttl)) }

// Extend is a statement that does nothing. The idle timeout is fixed: ttl is not looked at.
func (l *dbRowLease) Extend(ctx context.Context, ttl time.Duration) error {
	sent := l.clock.Now()
	result, err := l.db.Ping(l.name)
	if err := outcome(result, err); err != nil {
		return err
	}
	l.answered(sent)
	return nil
}

func (l *dbRowLease) Unlock(ctx context.Context) error { return l.commit(ctx, func() {}) }

func (l *dbRowLease) commit(ctx context.Context, ended func()) error {
	return outcome(l.db.Commit(l.name, ended))
}

// outcome is what a statement came to, as an error.
func outcome(result database.Result, err error) error {
	if err == nil && result == database.Gone {
		return redlock.ErrLost
	}
	return err
}

// Transaction is a lease whose lock is that of a transaction, with the effects made under it.
type Transaction interface {
	Lease
	// Node is the database's name.
	Node() string
	// Access carries out a read or write as a part of the transaction. e is as for storage.Storage.Do. The outcome of a write
	// is unknown until the commit, which is when it has its effect.
	Access(ctx context.Context, e history.Event) history.Event
	// Commit makes the writes take effect and gives the lock back, both in one moment. Belief ends with it; what Unlock
	// returns is what came of it.
	Commit(ctx context.Context)
}

// dbRowTransaction is a lease under which effects are made in the transaction itself.
type dbRowTransaction struct {
	*dbRowLease
	result error
}

// Node implements Transaction.
func (l *dbRowTransaction) Node() string { return l.db.Name() }

// Access implements Transaction.
func (l *dbRowTransaction) Access(ctx context.Context, e history.Event) history.Event {
	sent := l.clock.Now()
	result, number, err := l.db.Access(l.name, e)
	switch {
	case err != nil || result == database.Done && e.Func == history.Write:
		e.Outcome = history.Unknown
	case result == database.Gone:
		e.Outcome = history.Failed
	default:
		e.Outcome, e.Number = history.OK, number
	}
	if e.Outcome != history.Failed && err == nil {
		l.answered(sent)
	}
	return e
}

// Commit implements Transaction.
func (l *dbRowTransaction) Commit(ctx context.Context) {
	l.result = l.commit(ctx, func() { l.env.Disbelieve(l.ctx, "its transaction is committed") })
	s := Step{Name: committed}
	if l.result != nil {
		s.Name, s.Detail = rolledBack, Reason(l.result)
	}
	l.env.Step(l.ctx, s)
}

func (l *dbRowTransaction) Unlock(context.Context) error { return l.result }
