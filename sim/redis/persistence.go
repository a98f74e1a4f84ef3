package redis

import (
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
)

// disk is what a node has on its disk.
type disk struct {
	persistence Persistence
	started     kernel.True // fsyncs happen every second from here
	synced      kernel.True // the fsync that durable stands for
	durable     []Record    // what a power loss leaves, unless every command is followed by an fsync
	written     []Record    // what a start finds, as of when the node stopped
}

// catchUp is called before a write and before the node stops: it makes the fsync that has happened since the last write, until
// the process was paused if it is. One that is due in a pause happens when the process goes on, before it writes.
func (d *disk) catchUp(ran kernel.True, m Memory) {
	if d.persistence != EverySecond {
		return
	}
	last := d.started + (ran-d.started)/kernel.True(time.Second)*kernel.True(time.Second)
	if last > d.synced {
		d.durable, d.synced = m.Dump(), last
	}
}

// losePower leaves what was fsynced.
func (d *disk) losePower(ran kernel.True, m Memory) {
	d.catchUp(ran, m)
	if d.persistence == Always {
		d.durable = m.Dump()
	}
	d.written = d.durable
}

// kill leaves all that the node knows, which is nothing without persistence: it is with the operating system. It is no more
// durable than before.
func (d *disk) kill(ran kernel.True, m Memory) {
	d.catchUp(ran, m)
	d.written = nil
	if d.persistence != NoPersistence {
		d.written = m.Dump()
	}
}

// sync is the fsync before a clean end.
func (d *disk) sync() { d.durable = d.written }

// start makes the fsyncs count from now. The first of them makes durable what was read back.
func (d *disk) start(now kernel.True) { d.started, d.synced = now, now }
