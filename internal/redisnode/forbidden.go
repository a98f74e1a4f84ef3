package redisnode

import (
	"errors"
	"slices"
	"strings"
)

// begins reports whether the text of an error, or of one that it wraps, begins in one of these ways. Before the word that says
// what is wrong a server may put ERR, which some client libraries leave out.
func begins(err error, ways ...string) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		text := strings.TrimPrefix(err.Error(), "ERR ")
		if slices.ContainsFunc(ways, func(way string) bool { return strings.HasPrefix(text, way) }) {
			return true
		}
	}
	return false
}

// isScriptUnknown reports whether a server said that it knows no script with that hash: it has done nothing.
func isScriptUnknown(err error) bool { return begins(err, "NOSCRIPT") }

// isAcrossSlots reports whether a server said that the keys of a script are in several of its slots: it has done nothing.
func isAcrossSlots(err error) bool { return begins(err, "CROSSSLOT") }

// isForbidden reports whether a server said that a command does not exist, or that the user may not run it or touch the
// key.
func isForbidden(err error) bool {
	text := err.Error()
	return begins(err, "NOPERM", "unknown command") ||
		strings.Contains(text, "Unknown Redis command called from") || strings.Contains(text, "executing the script can't ") ||
		// As Valkey, and Redis since 8.0, put it.
		begins(err, "Unknown command called from", "ACL failure in script")
}

// isKeyForbidden reports whether it was a key that was forbidden, before the script began.
func isKeyForbidden(err error) bool {
	return begins(err, "NOPERM") && strings.Contains(err.Error(), "key") && !strings.Contains(err.Error(), "script")
}

// isHashForbidden reports whether it was EVALSHA that was forbidden: the script is then sent in full.
func isHashForbidden(err error) bool {
	return err != nil && isForbidden(err) && strings.Contains(strings.ToLower(err.Error()), "evalsha")
}
