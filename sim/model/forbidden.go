package model

import (
	"errors"
	"fmt"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
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
