//go:build linux

// Package storageserver is the storage of tier live, the resource that the lock guards: a server in the process of the run, and
// how clients access it.
package storageserver

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/sim/history"
	"redlocksim/sim/storage"
)

// storage is the shared resource that the lock guards: a server in this process that takes one request per connection. A
// request is an event with Func, Op, Grant, Resource, Number and Token, as JSON; the answer is its effect.
type Server struct {
	Listener net.Listener
	// record records an effect, and returns when the timeline has done what it does at such an event.
	record func(at int64, e history.Event)

	mu    sync.Mutex // effects happen one at a time
	cells storage.Cells
	conns map[net.Conn]bool
	drawn int64 // the last number of the sequence
}

func New(kind storage.Kind, record func(int64, history.Event)) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Listener: l, record: record, cells: storage.NewCells(kind), conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s, nil
}

func (s *Server) Close() {
	_ = s.Listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}

func (s *Server) serve(c net.Conn) {
	defer c.Close()
	s.mu.Lock()
	if s.conns == nil {
		s.mu.Unlock()
		return
	}
	s.conns[c] = true
	s.mu.Unlock()
	var e history.Event
	if err := json.NewDecoder(c).Decode(&e); err == nil {
		s.take(&e)
		_ = json.NewEncoder(c).Encode(e) // nobody reads it if the client is gone
	}
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// take carries out a request, or refuses it.
func (s *Server) take(e *history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Func == draw {
		s.drawn++
		e.Number = s.drawn
		return
	}
	e.Kind = history.Effect
	s.cells.Take(e)
	s.record(faketime.MachineTime(), *e)
}

// Access sends a request to the storage and waits for the answer, until ctx ends.
func Access(ctx context.Context, addr string, e history.Event) (done history.Event, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return done, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(c).Encode(e); err != nil {
		return done, err
	}
	err = json.NewDecoder(c).Decode(&done)
	return done, err
}

// draw is the Func of a request for the next number of the sequence, which is no access to the resource.
const draw history.Func = "draw"

// Sequence is the storage at an address as a source of fencing tokens.
type Sequence string

// Token implements driver.TokenSource.
func (addr Sequence) Token(ctx context.Context, _ []string) (int64, error) {
	e, err := Access(ctx, string(addr), history.Event{Func: draw})
	return e.Number, err
}
