//go:build linux

package server

import (
	"fmt"
	"net"

	"redlocksim/internal/redisproc"
)

// Follow makes a running server a replica of the master that it is to follow.
func (s *Server) Follow() error {
	host, port, err := net.SplitHostPort(s.Follows)
	if err != nil {
		return err
	}
	if _, err := redisproc.Ask(s.Addr, "REPLICAOF", host, port); err != nil {
		return fmt.Errorf("live: %s: %w", s.Name, err)
	}
	return nil
}
