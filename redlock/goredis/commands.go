package goredis

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server does
// not vote: it would keep locks that cannot be extended or released.
var ErrCommands = errors.New("goredis: the server must allow EVAL, EVALSHA, SET, GET, EXISTS, DEL, PTTL and PEXPIRE on the keys of locks, " +
	"and with the restart guard INFO and TIME")

// firstContact asks an acquire's script to look whether the lock can be extended and released.
const firstContact = "first"

// isForbidden reports whether a server said that a command does not exist, or that the user may not run it or touch the
// key.
func isForbidden(err error) bool {
	text := err.Error()
	return redis.IsPermissionError(err) || strings.HasPrefix(text, "NOPERM") || strings.HasPrefix(text, "ERR unknown command") ||
		strings.Contains(text, "Unknown Redis command called from") || strings.Contains(text, "executing the script can't ")
}

// isHashForbidden reports whether it was EVALSHA that was forbidden: the script is then sent in full.
func isHashForbidden(err error) bool {
	return err != nil && isForbidden(err) && strings.Contains(strings.ToLower(err.Error()), "evalsha")
}
