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

// errCommands says what the shipped adapter's goredis.ErrCommands does.
var errCommands = errors.New("goredis: " + batch.Needed)

// forbidden is the reply of a server that forbids scripts, or a command in one.
func (s *store) forbidden() driver.Reply {
	command, inScript := s.server.Forbidden(), true
	if command == redis.Scripts {
		command, inScript = "EVAL", false
	}
	why := rediscmd.ServerError(s.server.Refuses(command, nil, inScript))
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", errCommands, why)}
}

// meetsForbidden reports whether a script comes to a command that the server forbids, before it has changed anything: a release
// deletes the first key that is its own, and an extend looks how long its keys last if all of them are.
func (s *store) meetsForbidden(r *batch.Request, now int64) bool {
	forbidden := s.server.Forbidden()
	isOwn := func(c *driver.Command) func(key string) bool {
		return func(key string) bool {
			held, there := s.get(key, now)
			return there && held.Value == c.Value
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
