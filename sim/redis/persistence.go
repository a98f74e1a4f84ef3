package redis

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
)

// Persistence is what a Redis node writes to its disk.
type Persistence uint8

const (
	// NoPersistence: a node that stops forgets everything. The zero value.
	NoPersistence Persistence = iota
	// EverySecond: append-only file, fsync every second. A killed process loses nothing, since what it wrote is with
	// the operating system; a power loss loses what came after the last fsync.
	EverySecond
	// Always: append-only file, fsync after every command. Nothing is lost.
	Always
	// Snapshots: an RDB file, written anew once a key has changed and the last one is old enough. A node that is killed or
	// loses power loses what came after the last one; one that is shut down writes one more.
	Snapshots
)

// SurvivesKill says whether a process that is killed comes back with all that it knew, and SurvivesPowerLoss whether a machine
// that loses power does.
func (p Persistence) SurvivesKill() bool      { return p == EverySecond || p == Always }
func (p Persistence) SurvivesPowerLoss() bool { return p == Always }

// disk is what a node has on its disk.
type disk struct {
	persistence Persistence
	every       time.Duration // how old a snapshot is at least before there is another
	started     kernel.True   // fsyncs happen every second from here
	synced      kernel.True   // the fsync or snapshot that durable stands for, or the start
	durable     []Record      // what a power loss leaves, unless every command is followed by an fsync
	written     []Record      // what a start finds, as of when the node stopped
	// changes: there may be changes that no snapshot has, the first of them at changed.
	changes bool
	changed kernel.True
}

// beforeWrite is called before a write.
func (d *disk) beforeWrite(ran kernel.True, m Memory) {
	d.catchUp(ran, m)
	if !d.changes {
		d.changes, d.changed = true, ran
	}
}

// catchUp is called before a write and before the node stops: it makes the fsync or snapshot that has happened since the last
// write, until the process was paused if it is. One that is due in a pause happens when the process goes on, before it writes.
func (d *disk) catchUp(ran kernel.True, m Memory) {
	switch d.persistence {
	case EverySecond:
		last := d.started + (ran-d.started)/kernel.True(time.Second)*kernel.True(time.Second)
		if last > d.synced {
			d.durable, d.synced = m.Dump(), last
		}
	case Snapshots:
		// After a longer time without a change, the first one is followed by a snapshot at once.
		due := max(d.synced.Add(d.every), d.changed)
		if !d.changes || due > ran || d.changed == ran {
			return
		}
		d.changes = false
		if all := m.Dump(); !slices.Equal(all, d.durable) {
			d.durable, d.synced = all, due
		}
	}
}

// losePower leaves what was fsynced.
func (d *disk) losePower(ran kernel.True, m Memory) {
	d.catchUp(ran, m)
	if d.persistence.SurvivesPowerLoss() {
		d.durable = m.Dump()
	}
	d.written = d.durable
}

// kill leaves all that the node knows with an append-only file: it is with the operating system. It is no more durable than
// before.
func (d *disk) kill(ran kernel.True, m Memory) {
	d.catchUp(ran, m)
	d.written = d.durable
	if d.persistence.SurvivesKill() {
		d.written = m.Dump()
	}
}

// shutDown leaves what the node knows, unless it persists nothing, after an fsync or in a snapshot.
func (d *disk) shutDown(_ kernel.True, m Memory) {
	d.written = nil
	if d.persistence != NoPersistence {
		d.written = m.Dump()
	}
	d.durable = d.written
}

// start makes the times of fsyncs and snapshots count from now. The first fsync makes durable what was read back.
func (d *disk) start(now kernel.True) { d.started, d.synced, d.changes = now, now, false }
