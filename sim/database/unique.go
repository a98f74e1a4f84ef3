package database

import (
	"time"

	"redlocksim/sim/kernel"
)

// janitorEvery is how often the clean-up job runs.
const janitorEvery = time.Second

// Insert inserts the row of an owner: INSERT INTO locks (resource, owner, inserted_at), with a unique index on resource.
// A row that is this owner's already is the same statement, sent again.
func (d *Database) Insert(client *kernel.Process, key kernel.Key, deadline time.Time, resource, name string) (Result, error) {
	a, err := d.ask(client, key, deadline, func() answer {
		if row, taken := d.disk.owners[resource]; taken && row.name != name {
			return answer{result: Locked}
		}
		d.disk.owners[resource] = owner{name, d.server.Clock().Wall()}
		return answer{result: Done}
	})
	return a.result, err
}

// Touch sets a row's time: UPDATE locks SET inserted_at = now() WHERE resource = ? AND owner = ?.
func (d *Database) Touch(client *kernel.Process, key kernel.Key, deadline time.Time, resource, name string) (Result, error) {
	return d.own(client, key, deadline, resource, name, func() { d.disk.owners[resource] = owner{name, d.server.Clock().Wall()} })
}

// Delete deletes an owner's row: DELETE FROM locks WHERE resource = ? AND owner = ?.
func (d *Database) Delete(client *kernel.Process, key kernel.Key, deadline time.Time, resource, name string) (Result, error) {
	return d.own(client, key, deadline, resource, name, func() { delete(d.disk.owners, resource) })
}

// own does something with a row if it is there and the owner's.
func (d *Database) own(client *kernel.Process, key kernel.Key, deadline time.Time, resource, name string,
	do func()) (Result, error) {
	a, err := d.ask(client, key, deadline, func() answer {
		if d.disk.owners[resource].name != name {
			return answer{result: Gone}
		}
		do()
		return answer{result: Done}
	})
	return a.result, err
}

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
