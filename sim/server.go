package sim

import (
	"fmt"
	"time"
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

// Record is one key as a node keeps it.
type Record struct {
	Key, Value string
	// ExpiresAt is in milliseconds of the node's wall clock since the Unix epoch, as Redis stores it; the key is gone
	// once the clock reads more. 0 means never.
	ExpiresAt int64
}

// Memory is the keyspace of a node, in whatever way a Backend keeps it.
type Memory interface {
	// Dump returns all keys that have not expired, sorted by key.
	Dump() []Record
	// Load replaces all that the node knows, scripts included, by the records.
	Load([]Record)
}

// Server is one Redis node: a process with a memory, which can stop in three different ways.
type Server struct {
	*Process
	memory      Memory
	persistence Persistence
	state       presence
	started     True     // fsyncs happen every second from here
	synced      True     // the fsync that disk stands for
	disk        []Record // what a power loss leaves
	links       []*Link
	subscribers []*Subscription // in the order in which they came
	replication replication
	services    []Service
	starts      uint64 // how often it was started again
}

// State in words: "up", "refusing" (the process is down) or "off" (the machine is).
func (s *Server) State() string {
	return [...]string{listening: "up", refusing: "refusing", silent: "off"}[s.state]
}

// Up says whether the node answers.
func (s *Server) Up() bool { return s.state == listening }

// Restarted says whether the node was ever started again.
func (s *Server) Restarted() bool { return s.starts > 0 }

// BeforeWrite must be called before a command changes the memory, so that what the last fsync covered is known.
func (s *Server) BeforeWrite() {
	if s.persistence == EverySecond {
		s.sync()
	}
}

// sync catches up with the fsyncs that have happened since the last write.
func (s *Server) sync() {
	if s.state != listening {
		return
	}
	last := s.started + (s.k.now-s.started)/True(time.Second)*True(time.Second)
	if last > s.synced {
		s.disk, s.synced = s.memory.Dump(), last
	}
}

// Kill ends the process, as kill −9 does. What it had handed to the operating system stays; its connections are reset.
func (s *Server) Kill() error {
	if err := s.mustBeUp("kill"); err != nil {
		return err
	}
	if s.persistence != NoPersistence {
		s.disk = s.memory.Dump()
	}
	s.stop(refusing)
	for _, l := range s.links {
		l.serverDied()
	}
	return nil
}

// LosePower turns the machine off. What was not fsynced is lost, and nobody is told: requests get no answer.
func (s *Server) LosePower() error {
	if err := s.mustBeUp("power-loss"); err != nil {
		return err
	}
	switch s.persistence {
	case EverySecond:
		s.sync()
	case Always:
		s.disk = s.memory.Dump()
	}
	s.stop(silent)
	for _, l := range s.links {
		l.serverVanished()
	}
	return nil
}

// Shutdown ends the process cleanly, with what it persists written out.
func (s *Server) Shutdown() error {
	if err := s.mustBeUp("shutdown"); err != nil {
		return err
	}
	return s.Kill()
}

func (s *Server) stop(state presence) {
	s.state = state
	s.paused = false
	if s.k.recorder != nil {
		s.k.recorder.dropped(s.deferred, lostToCrash)
	}
	s.deferred = nil // its socket buffers go with it
	s.memory.Load(nil)
	s.subscribers = nil
	s.stopped()
	for _, service := range s.services {
		service.Stopped()
	}
	s.k.look()
}

// Restart starts the process with what is on its disk. Deadlines of keys are absolute: they have run on meanwhile.
func (s *Server) Restart() error {
	if s.state == listening {
		return fmt.Errorf("sim: restart: node %s is up", s.name)
	}
	s.state = listening
	s.starts++
	s.memory.Load(s.disk)
	s.started, s.synced = s.k.now, s.k.now
	if s.persistence == NoPersistence {
		s.disk = nil
	} else {
		s.disk = s.memory.Dump()
	}
	for _, service := range s.services {
		service.Started()
	}
	s.restarted()
	s.k.look()
	return nil
}

func (s *Server) mustBeUp(what string) error {
	if s.state != listening {
		return fmt.Errorf("sim: %s: node %s is down already", what, s.name)
	}
	return nil
}

// Watchful is a Memory that remembers when keys went.
type Watchful interface {
	Memory
	// WatchKeys has it remember, from now on.
	WatchKeys()
	// Freed is the true time from which a key was or will be in nobody's way: when it was removed or ran out, or will run
	// out if nothing happens to the clock. A key that was set later than since is somebody else's vote, and counts as
	// freed when it was set. Forever is never; zero is always.
	Freed(key string, since True) True
}

// Memory is what the backend made for the node.
func (s *Server) Memory() Memory { return s.memory }

// Dump is what the node knows.
func (s *Server) Dump() []Record { return s.memory.Dump() }

// OnDisk is what a restart would find.
func (s *Server) OnDisk() []Record { return s.disk }
