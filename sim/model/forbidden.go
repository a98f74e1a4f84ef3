package model

import (
	"errors"
	"fmt"
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// errCommands says what the shipped adapter's goredis.ErrCommands does, and errScripts what it does where scripts are
// forbidden.
var (
	errCommands = errors.New("goredis: " + batch.Needed)
	errScripts  = fmt.Errorf("%w; %s", errCommands, batch.Instead)
)

// forbidden is the reply to an acquire of a server that was found not to have what a lock needs.
func (s *store) forbidden() driver.Reply {
	why := rediscmd.ServerError(s.server.Refuses(s.server.Forbidden(), nil, true))
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", errCommands, why)}
}

// scriptsForbidden is the reply of a server that allows no scripts.
func (s *store) scriptsForbidden() driver.Reply {
	why := rediscmd.ServerError(s.server.Refuses("EVAL", nil, false))
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", errScripts, why)}
}

// barred is what the library says of a server where neither scripts nor plain commands do.
func (s *store) barred() driver.Reply {
	if s.server.Forbidden() == redis.Scripts {
		return s.scriptsForbidden()
	}
	return s.forbidden()
}

// meetsForbidden reports whether a script comes to a command that the server forbids, before it has changed anything: a release
// deletes the first key that is its own, and an extend looks how long its keys last if all of them are.
func (s *store) meetsForbidden(r *batch.Request, now int64) bool {
	forbidden := s.server.Forbidden()
	isOwn := func(c *driver.Command) func(key string) bool {
		return func(key string) bool {
			held, there := s.get(key, now)
			return there && held.value == c.Value
		}
	}
	switch {
	case r.First.Op == driver.OpRelease && forbidden == "DEL":
		for i := range r.Len() {
			if c := r.Command(i); slices.ContainsFunc(c.Keys, isOwn(c)) {
				return true
			}
		}
	case r.First.Op == driver.OpExtend && (forbidden == "PTTL" || forbidden == "PEXPIRE"):
		is := isOwn(r.First)
		return !slices.ContainsFunc(r.First.Keys, func(key string) bool { return !is(key) })
	}
	return false
}
