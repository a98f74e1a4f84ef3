package redis

import (
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
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

// BeforeWrite must be called before a command changes the memory, so that what the last fsync covered is known.
func (s *Server) BeforeWrite() {
	if s.persistence == EverySecond {
		s.sync()
	}
}

// sync catches up with the fsyncs that have happened since the last write.
func (s *Server) sync() {
	if s.state != network.Listening {
		return
	}
	last := s.started + (s.Now()-s.started)/kernel.True(time.Second)*kernel.True(time.Second)
	if last > s.synced {
		s.disk, s.synced = s.memory.Dump(), last
	}
}

// OnDisk is what a restart would find.
func (s *Server) OnDisk() []Record { return s.disk }
