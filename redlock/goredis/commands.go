package goredis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server does
// not vote: it would keep locks that cannot be extended or released.
var ErrCommands = errors.New("goredis: " + batch.Needed)

// errScripts is ErrCommands of a server that forbids scripts.
var errScripts = fmt.Errorf("%w; %s", ErrCommands, batch.Instead)

// forbidden is the reply of a server that forbids what a lock needs, as an error says.
func forbidden(err error) driver.Reply {
	forbids := ErrCommands
	if isScriptForbidden(err) {
		forbids = errScripts
	}
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", forbids, err)}
}

// isForbidden reports whether a server said that a command does not exist, or that the user may not run it or touch the
// key.
func isForbidden(err error) bool {
	text := err.Error()
	return redis.IsPermissionError(err) || strings.HasPrefix(text, "NOPERM") || strings.HasPrefix(text, "ERR unknown command") ||
		strings.Contains(text, "Unknown Redis command called from") || strings.Contains(text, "executing the script can't ") ||
		// As Valkey, and Redis since 8.0, put it.
		strings.HasPrefix(text, "ERR Unknown command called from") || strings.HasPrefix(text, "ERR ACL failure in script")
}

// isScriptForbidden reports whether it was EVAL or EVALSHA that was forbidden.
func isScriptForbidden(err error) bool {
	return err != nil && isForbidden(err) && strings.Contains(strings.ToLower(err.Error()), "'eval")
}

// isHashForbidden reports whether it was EVALSHA that was forbidden: the script is then sent in full.
func isHashForbidden(err error) bool {
	return err != nil && isForbidden(err) && strings.Contains(strings.ToLower(err.Error()), "evalsha")
}
