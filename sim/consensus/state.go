package consensus

import (
	"slices"
	"time"
)

// state is what the log adds up to; the same on all nodes that have applied the same entries.
type state struct {
	revision int64
	sessions map[string]*session
	ended    map[string]bool // so that a request that is late does not open a session again
	locks    map[string]*lock
}

type session struct {
	ttl      time.Duration
	resource string
}

type lock struct {
	owner    string // a session; empty if free
	revision int64  // when it was granted
	queue    []string
}

func newState() *state {
	return &state{sessions: map[string]*session{}, ended: map[string]bool{}, locks: map[string]*lock{}}
}

// apply carries a request out.
func (s *state) apply(r Request) Answer {
	if s.ended[r.Session] {
		return Answer{Status: Gone}
	}
	x := s.sessions[r.Session]
	switch {
	case r.Kind == Acquire:
		return s.acquire(r)
	case r.Kind != KeepAlive:
		s.ended[r.Session] = true
	}
	if x == nil {
		return Answer{Status: Gone}
	}
	if r.Kind != KeepAlive {
		delete(s.sessions, r.Session)
		s.leave(s.locks[x.resource], r.Session)
	}
	return Answer{Status: Done}
}

func (s *state) acquire(r Request) Answer {
	l := s.locks[r.Resource]
	if l == nil {
		l = &lock{}
		s.locks[r.Resource] = l
	}
	waits := slices.Contains(l.queue, r.Session)
	if l.owner != "" && l.owner != r.Session && !waits && !r.Queue {
		return Answer{Status: Taken}
	}
	s.sessions[r.Session] = &session{ttl: r.TTL, resource: r.Resource}
	if l.owner != r.Session && !waits {
		l.queue = append(l.queue, r.Session)
		s.next(l)
	}
	if l.owner != r.Session {
		return Answer{Status: Taken}
	}
	return Answer{Status: Done, Revision: l.revision}
}

// leave takes a session off a lock and its queue.
func (s *state) leave(l *lock, session string) {
	if l.owner == session {
		l.owner = ""
	}
	l.queue = slices.DeleteFunc(l.queue, func(other string) bool { return other == session })
	s.next(l)
}

// next grants a free lock to the first in the queue.
func (s *state) next(l *lock) {
	if l.owner == "" && len(l.queue) > 0 {
		s.revision++
		l.owner, l.revision = l.queue[0], s.revision
		l.queue = l.queue[1:]
	}
}
