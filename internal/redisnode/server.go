// Package redisnode is what the adapters to Redis client libraries share, [redlocksim/redlock/goredis] first: which commands a
// batch becomes for a real server, the scripts among them, and what their answers mean.
//
// An adapter sends commands in one pipeline and hands over the answers; all that it knows of a client library is its own. For
// each batch it begins an [Exchange] with a [Server], and sends one [Message] after the other until there is none left:
//
//	x := server.Begin()
//	for len(commands) > 0 {
//		m := x.Message(commands)
//		… // send m.Append(nil, i) for each i below m.Len()
//		commands = m.Answered(&x, func(i int) redisnode.Answer { … })
//	}
package redisnode

import (
	"errors"
	"fmt"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Server is what an adapter has found out about a server. It can be used by several goroutines at once.
type Server struct {
	adapter *Adapter
	clock   driver.Clock
	known   batch.Known

	listening *Listening
}

// NewServer is a server of which nothing is known. The clock is that of the client.
func NewServer(a *Adapter, clock driver.Clock) *Server {
	return &Server{adapter: a, clock: clock, listening: &Listening{}}
}

// Part has no commands joined in one script, because the server belongs to a cluster. The proxy of a sharded service looks like
// one server, and is found out about when it first refuses such a script.
func (s *Server) Part() { s.known.Part() }

// Begin begins an exchange with the server.
func (s *Server) Begin() Exchange { return Exchange{server: s, as: s.known.Scripts()} }

// judge learns from a reply what the server lets its user do: it is asked again after anything that makes it doubtful. A
// server that forbids something is not asked to vote by a plain SET until it has been found to allow all.
func (s *Server) judge(reply driver.Reply) driver.Reply {
	switch {
	case reply.Outcome == driver.Refused: // another server may be there next, or another user
		s.known.Doubt()
	case reply.Outcome == driver.Failed && isForbidden(reply.Err):
		s.known.Doubt()
		return s.adapter.forbidden(reply.Err)
	}
	return reply
}

// Adapter is by what name the errors of an adapter's servers begin.
type Adapter struct {
	// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server
	// does not vote: it would keep locks that cannot be extended or released.
	ErrCommands error

	name string
}

// NewAdapter is an adapter with the name of its package.
func NewAdapter(name string) *Adapter {
	return &Adapter{ErrCommands: errors.New(name + ": " + batch.Needed), name: name}
}

// forbidden is the reply of a server that forbids what a lock needs, as an error says.
func (of *Adapter) forbidden(err error) driver.Reply {
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", of.ErrCommands, err)}
}
