// Package database is a database server: rows that a transaction can lock, and a table with a unique index.
//
// It runs on the first node of the world in the place of Redis. What is committed is on its disk and survives restarts;
// transactions end with the process.
package database

import (
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Database is the database of a world.
type Database struct {
	world  *sim.World
	server *redis.Server
	clock  driver.Clock
	disk   disk

	up           bool
	transactions map[string]*transaction
	locked       map[string]*transaction // rows, by resource
	janitor      driver.Timer
	cleanUp      time.Duration
}

// disk is what survives a restart.
type disk struct {
	numbers map[string]int64 // rows that are guarded by their lock
	owners  map[string]owner // the table with a unique index, by resource
}

// owner is a row of the table with a unique index.
type owner struct {
	name     string
	inserted kernel.Wall
}

// Of is the database of the world, which starts when it is first asked for. A job deletes rows of the table with a unique
// index that are older than cleanUp, by the wall clock of the database; zero is no such job.
func Of(w *sim.World, cleanUp time.Duration) *Database {
	return sim.Shared(w, "database", func() *Database {
		d := &Database{world: w, server: w.Servers[0], clock: w.Servers[0].ProgramClock(), cleanUp: cleanUp,
			disk: disk{numbers: map[string]int64{}, owners: map[string]owner{}}}
		d.server.Host(d)
		d.Started()
		return d
	})
}

// Name is the node's name.
func (d *Database) Name() string { return d.server.Name() }

// Started implements redis.Service.
func (d *Database) Started() {
	d.up = true
	d.transactions, d.locked = map[string]*transaction{}, map[string]*transaction{}
	if d.cleanUp > 0 {
		d.janitor = d.clock.AfterFunc(janitorEvery, d.deleteOld)
	}
}

// Stopped implements redis.Service.
func (d *Database) Stopped() {
	d.up = false
	for _, t := range d.transactions {
		t.idle.Stop()
	}
	if d.janitor != nil {
		d.janitor.Stop()
	}
}

// Result is what became of a statement.
type Result uint8

const (
	// Done: it was carried out.
	Done Result = iota + 1
	// Locked: another transaction has the row, or another owner's row is there already.
	Locked
	// Gone: the transaction has ended, or the row is not there.
	Gone
)

// transaction is one under way. It ends when its client commits it, or is not heard of for the idle timeout.
type transaction struct {
	name    string
	row     string
	idle    driver.Timer
	timeout time.Duration
	writes  []history.Event // effects, in order, that the commit will have
}

// Begin begins a transaction and locks a row: BEGIN; SELECT … FOR UPDATE NOWAIT. If it is Locked the transaction is over.
// The database ends the transaction when no statement of it has come for the idle timeout, by its monotonic clock.
func (d *Database) Begin(client *kernel.Process, key kernel.Key, deadline time.Time, transactionName, row string,
	idle time.Duration) (Result, error) {
	a, err := d.ask(client, key, deadline, func() answer {
		if d.locked[row] != nil {
			return answer{result: Locked}
		}
		t := &transaction{name: transactionName, row: row, timeout: idle}
		t.idle = d.clock.AfterFunc(idle, func() { d.rollBack(t) })
		d.transactions[transactionName], d.locked[row] = t, t
		return answer{result: Done}
	})
	return a.result, err
}

// statement carries out a statement of a transaction that is under way, which is heard of with it.
func (d *Database) statement(client *kernel.Process, key kernel.Key, deadline time.Time, name string,
	carryOut func(*transaction) answer) (answer, error) {
	return d.ask(client, key, deadline, func() answer {
		t := d.transactions[name]
		if t == nil {
			return answer{result: Gone}
		}
		t.idle.Reset(t.timeout)
		return carryOut(t)
	})
}

// Ping is a statement that does nothing.
func (d *Database) Ping(client *kernel.Process, key kernel.Key, deadline time.Time, name string) (Result, error) {
	a, err := d.statement(client, key, deadline, name, func(*transaction) answer { return answer{result: Done} })
	return a.result, err
}

// Access reads or writes the row in the transaction: e has Func Read or Write, Op, Grant, Resource, and the Number to
// write. A read has its effect at once, a write when it is committed. It returns the number read.
func (d *Database) Access(client *kernel.Process, key kernel.Key, deadline time.Time, name string,
	e history.Event) (Result, int64, error) {
	e.Kind, e.Process, e.Node = history.Effect, client.Name(), d.Name()
	a, err := d.statement(client, key, deadline, name, func(t *transaction) answer {
		if e.Func == history.Write {
			t.writes = append(t.writes, e)
			return answer{result: Done}
		}
		e.Outcome, e.Number = history.OK, d.disk.numbers[e.Resource]
		if n := len(t.writes); n > 0 {
			e.Number = t.writes[n-1].Number
		}
		d.world.Record(e)
		return answer{result: Done, number: e.Number}
	})
	return a.result, a.number, err
}

// Commit ends the transaction: its writes have their effect, all at once, the row is free, and ended is called, all in
// the same moment. It does not if the transaction has ended before.
func (d *Database) Commit(client *kernel.Process, key kernel.Key, deadline time.Time, name string,
	ended func()) (Result, error) {
	a, err := d.statement(client, key, deadline, name, func(t *transaction) answer {
		for _, e := range t.writes {
			d.disk.numbers[e.Resource] = e.Number
			e.Outcome = history.OK
			d.world.Record(e)
		}
		d.end(t)
		ended()
		return answer{result: Done}
	})
	return a.result, err
}

// Has says whether a transaction of this name is under way, or there is a row of an owner of this name.
func (d *Database) Has(name string) bool {
	if d.transactions[name] != nil {
		return true
	}
	for _, row := range d.disk.owners {
		if row.name == name {
			return true
		}
	}
	return false
}

// rollBack ends a transaction of which no statement has come for too long.
func (d *Database) rollBack(t *transaction) {
	for _, e := range t.writes {
		e.Outcome = history.Failed
		d.world.Record(e)
	}
	d.end(t)
}

func (d *Database) end(t *transaction) {
	t.idle.Stop()
	delete(d.transactions, t.name)
	delete(d.locked, t.row)
}
