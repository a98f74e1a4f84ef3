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
	"redlocksim/sim/service"
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

// Client is a client of the database, whose requests wait for their answers.
type Client struct {
	*Database
	process *kernel.Process
	next    func() (key kernel.Key, deadline time.Time)
}

// Client is a client of the database; next says what the next request is for, and until when the client waits for the answer.
func (d *Database) Client(process *kernel.Process, next func() (key kernel.Key, deadline time.Time)) *Client {
	return &Client{d, process, next}
}

// ask sends a statement and waits for its result.
func (c *Client) ask(carryOut func() Result) (Result, error) {
	key, deadline := c.next()
	return service.Ask(c.world.Network.Link(c.process.Name(), c.server.Name()), key, deadline, func(call *service.Call[Result]) {
		if c.up {
			call.Answer(carryOut())
		}
	})
}

// Begin begins a transaction and locks a row: BEGIN; SELECT … FOR UPDATE NOWAIT. If it is Locked the transaction is over.
// The database ends the transaction when no statement of it has come for the idle timeout, by its monotonic clock.
func (c *Client) Begin(name, row string, idle time.Duration) (Result, error) {
	d := c.Database
	return c.ask(func() Result {
		if d.locked[row] != nil {
			return Locked
		}
		t := &transaction{name: name, row: row, timeout: idle}
		t.idle = d.clock.AfterFunc(idle, func() { d.rollBack(t) })
		d.transactions[name], d.locked[row] = t, t
		return Done
	})
}

// statement carries out a statement of a transaction that is under way, which is heard of with it.
func (c *Client) statement(name string, carryOut func(*transaction)) (Result, error) {
	return c.ask(func() Result {
		t := c.transactions[name]
		if t == nil {
			return Gone
		}
		t.idle.Reset(t.timeout)
		carryOut(t)
		return Done
	})
}

// Ping is a statement that does nothing.
func (c *Client) Ping(name string) (Result, error) { return c.statement(name, func(*transaction) {}) }

// Access reads or writes the row in the transaction: e has Func Read or Write, Op, Grant, Resource, and the Number to
// write. A read has its effect at once, a write when it is committed. It returns the number read.
func (c *Client) Access(name string, e history.Event) (result Result, number int64, err error) {
	e.Kind, e.Process, e.Node = history.Effect, c.process.Name(), c.Name()
	result, err = c.statement(name, func(t *transaction) {
		if e.Func == history.Write {
			t.writes = append(t.writes, e)
			return
		}
		e.Outcome, e.Number = history.OK, c.disk.numbers[e.Resource]
		if n := len(t.writes); n > 0 {
			e.Number = t.writes[n-1].Number
		}
		c.world.Record(e)
		number = e.Number
	})
	return result, number, err
}

// Commit ends the transaction: its writes have their effect, all at once, the row is free, and ended is called, all in
// the same moment. It does not if the transaction has ended before.
func (c *Client) Commit(name string, ended func()) (Result, error) {
	return c.statement(name, func(t *transaction) {
		for _, e := range t.writes {
			c.disk.numbers[e.Resource] = e.Number
			e.Outcome = history.OK
			c.world.Record(e)
		}
		c.end(t)
		ended()
	})
}

// Insert inserts the row of an owner: INSERT INTO locks (resource, owner, inserted_at), with a unique index on resource.
// A row that is this owner's already is the same statement, sent again.
func (c *Client) Insert(resource, name string) (Result, error) {
	return c.ask(func() Result {
		if row, taken := c.disk.owners[resource]; taken && row.name != name {
			return Locked
		}
		c.disk.owners[resource] = owner{name, c.server.Clock().Wall()}
		return Done
	})
}

// Touch sets a row's time: UPDATE locks SET inserted_at = now() WHERE resource = ? AND owner = ?.
func (c *Client) Touch(resource, name string) (Result, error) {
	return c.own(resource, name, func() { c.disk.owners[resource] = owner{name, c.server.Clock().Wall()} })
}

// Delete deletes an owner's row: DELETE FROM locks WHERE resource = ? AND owner = ?.
func (c *Client) Delete(resource, name string) (Result, error) {
	return c.own(resource, name, func() { delete(c.disk.owners, resource) })
}

// own does something with a row if it is there and the owner's.
func (c *Client) own(resource, name string, do func()) (Result, error) {
	return c.ask(func() Result {
		if c.disk.owners[resource].name != name {
			return Gone
		}
		do()
		return Done
	})
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

// janitorEvery is how often the clean-up job runs.
const janitorEvery = time.Second

// deleteOld is the clean-up job: DELETE FROM locks WHERE inserted_at < now() − cleanUp.
func (d *Database) deleteOld() {
	d.janitor.Reset(janitorEvery)
	now := d.server.Clock().Wall()
	for resource, row := range d.disk.owners {
		if now-row.inserted > kernel.Wall(d.cleanUp) {
			delete(d.disk.owners, resource)
		}
	}
}
