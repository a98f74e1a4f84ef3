package redis

import (
	"fmt"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Kill ends the process, as kill −9 does. What it had handed to the operating system stays; its connections are reset.
func (s *Server) Kill() error { return s.exit("kill", s.disk.kill) }

// LosePower turns the machine off. What was not fsynced is lost, and nobody is told: requests get no answer.
func (s *Server) LosePower() error {
	if err := s.mustBeUp("power-loss"); err != nil {
		return err
	}
	s.disk.losePower(s.RanUntil(), s.memory)
	s.stop(network.Silent)
	for _, l := range s.links {
		l.ServerVanished()
	}
	return nil
}

// Shutdown ends the process cleanly, with what it persists written out.
func (s *Server) Shutdown() error { return s.exit("shutdown", s.disk.shutDown) }

func (s *Server) exit(how string, leave func(ran kernel.True, m Memory)) error {
	if err := s.mustBeUp(how); err != nil {
		return err
	}
	leave(s.RanUntil(), s.memory)
	s.stop(network.Refusing)
	for _, l := range s.links {
		l.ServerDied()
	}
	return nil
}

func (s *Server) stop(state network.Presence) {
	s.state = state
	s.Process.Reset() // its socket buffers go with it
	s.memory.Load(nil)
	s.subscribers = nil
	s.stopped()
	for _, service := range s.services {
		service.Stopped()
	}
	s.isOther()
}

// Restart starts the process with what is on its disk. Deadlines of keys are absolute: they have run on meanwhile.
func (s *Server) Restart() error {
	if s.state == network.Listening {
		return fmt.Errorf("sim: restart: node %s is up", s.Name())
	}
	s.state = network.Listening
	s.starts++
	s.drawRunID()
	s.memory.Load(s.disk.written)
	s.disk.start(s.Now())
	for _, service := range s.services {
		service.Started()
	}
	s.restarted()
	s.isOther()
	return nil
}

func (s *Server) mustBeUp(what string) error {
	if s.state != network.Listening {
		return fmt.Errorf("sim: %s: node %s is down already", what, s.Name())
	}
	return nil
}
