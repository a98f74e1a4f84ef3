//go:build linux

// Package storageserver is the storage of tier live, the resource that the lock guards: a server in the process of the run, and
// how clients access it.
package storageserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"

	"redlocksim/internal/faketime"
	"redlocksim/sim/history"
	"redlocksim/sim/storage"
)

// Server is the shared resource that the lock guards. A request is an event with Func, Op, Grant, Resource, Number and Token,
// as JSON; the answer is its effect.
type Server struct {
	Addr string

	http http.Server
	// record records an effect, and returns when the timeline has done what it does at such an event.
	record func(at int64, e history.Event)

	mu    sync.Mutex // effects happen one at a time
	cells storage.Cells
	drawn int64 // the last number of the sequence
}

// New starts the server, which must be closed.
func New(kind storage.Kind, record func(int64, history.Event)) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: l.Addr().String(), record: record, cells: storage.NewCells(kind)}
	s.http.Handler = http.HandlerFunc(s.serve)
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close breaks off what is under way.
func (s *Server) Close() error { return s.http.Close() }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var e history.Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.take(&e)
	_ = json.NewEncoder(w).Encode(e) // nobody reads it if the client is gone
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

// once has each request made on a connection of its own, and only once.
var once = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Access sends a request to the storage and waits for the answer, until ctx ends.
func Access(ctx context.Context, addr string, e history.Event) (done history.Event, err error) {
	text, err := json.Marshal(e)
	if err != nil {
		return done, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr, bytes.NewReader(text))
	if err != nil {
		return done, err
	}
	answer, err := once.Do(r)
	if err != nil {
		return done, err
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&done)
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
