// Command postgres is the lock program of locks in a PostgreSQL database, through github.com/jackc/pgx/v5. Its argument says
// which kind: row, advisory or unique.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"redlocksim/lockprogram"
	"redlocksim/lockprogram/lines"
)

// kinds are the kinds of locks, by their names.
var kinds = map[string]func(*database) (lockprogram.Locker, error){"row": newRow, "advisory": newAdvisory, "unique": newUnique}

func main() {
	flag.Parse()
	kind := kinds[flag.Arg(0)]
	if kind == nil {
		fmt.Fprintf(os.Stderr, "postgres: %q is none of row, advisory and unique\n", flag.Arg(0))
		os.Exit(2)
	}
	lockprogram.Serve(func(env lockprogram.Env) (lockprogram.Locker, error) {
		config, err := pgxpool.ParseConfig(fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", env.Nodes[0]))
		if err != nil {
			return nil, err
		}
		config.ConnConfig.DialFunc = env.Dial
		pool, err := pgxpool.NewWithConfig(context.Background(), config)
		if err != nil {
			return nil, err
		}
		return kind(&database{Pool: pool, env: env})
	})
}

// database is where the locks are.
type database struct {
	*pgxpool.Pool
	env lockprogram.Env

	mu    sync.Mutex
	ready bool
}

// about is what is said of all kinds. Protocol is the one of scenarios that it is; none if it is empty.
func about(protocol string, settings ...string) lockprogram.About {
	a := lockprogram.About{Library: "pgx", Version: lockprogram.Version("github.com/jackc/pgx/v5"), Server: lines.Postgres, OneNode: true,
		TellsUntil: true, Settings: settings}
	if protocol != "" {
		a.Protocols = []string{protocol}
	}
	return a
}

// wait takes a lock that has only a TryLock, until ctx ends. An attempt that the database has not answered in time is not the
// last.
func wait(ctx context.Context, l lockprogram.Locker, resource string, ttl time.Duration) (lockprogram.Lease, error) {
	return lockprogram.LockByTrying(ctx, func(ctx context.Context) (lockprogram.Lease, error) { return l.TryLock(ctx, resource, ttl) })
}

// within limits how long to wait for the database.
func within(ctx context.Context, ttl time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, ttl/5)
}

// prepare makes the tables once. The lock has the clients make them one after the other: IF NOT EXISTS does not.
func (d *database) prepare(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready {
		return nil
	}
	_, err := d.Exec(ctx, `SELECT pg_advisory_xact_lock(0);
		CREATE TABLE IF NOT EXISTS rows (resource text PRIMARY KEY, number bigint NOT NULL DEFAULT 0);
		CREATE TABLE IF NOT EXISTS effects (note text NOT NULL);
		CREATE TABLE IF NOT EXISTS owners (resource text PRIMARY KEY, owner text NOT NULL, inserted_at timestamptz NOT NULL DEFAULT now());`)
	d.ready = err == nil
	return err
}

// PostgreSQL's codes of errors.
const (
	lockNotAvailable       = "55P03"
	idleTransactionTimeout = "25P03"
)

// isCode says whether an error is one of PostgreSQL with that code.
func isCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}
