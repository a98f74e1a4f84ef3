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
	synced      kernel.True // the fsync that records stands for
	records     []Record    // what a power loss leaves
}

// catchUp is called before a write and before a power loss: it makes the fsync that has happened since the last write.
func (d *disk) catchUp(now kernel.True, m Memory) {
	if d.persistence != EverySecond {
		return
	}
	last := d.started + (now-d.started)/kernel.True(time.Second)*kernel.True(time.Second)
	if last > d.synced {
		d.records, d.synced = m.Dump(), last
	}
}

// losePower leaves what was fsynced.
func (d *disk) losePower(now kernel.True, m Memory) {
	d.catchUp(now, m)
	if d.persistence == Always {
		d.records = m.Dump()
	}
}

// write keeps all that the node knows, which is nothing without persistence: the operating system writes it out after a
// kill, and the node itself when it starts.
func (d *disk) write(m Memory) {
	d.records = nil
	if d.persistence != NoPersistence {
		d.records = m.Dump()
	}
}

// start makes the fsyncs count from now.
func (d *disk) start(now kernel.True, m Memory) {
	d.started, d.synced = now, now
	d.write(m)
}
