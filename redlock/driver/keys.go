package driver

import "strings"

// tokenPrefix begins the names of the counters, GuardKey is the name of the restart guard's record. Neither is a lock.
const (
	tokenPrefix = "redlock:token:"
	GuardKey    = "redlock:guard"
)

// TokenKey is the name of the counter that belongs to a lock's key.
func TokenKey(key string) string { return tokenPrefix + key }

// IsLockKey reports whether a key on a node can be a lock's. Counters and the guard's record are none: they outlive all
// locks.
func IsLockKey(key string) bool { return key != GuardKey && !IsTokenKey(key) }

// IsTokenKey reports whether a key on a node is a lock's fencing counter.
func IsTokenKey(key string) bool { return strings.HasPrefix(key, tokenPrefix) }

// wakePrefix begins the names of the channels on which releases are published.
const wakePrefix = "redlock:released:"

// WakeChannel is the name of the channel on which the release of a key is published.
func WakeChannel(key string) string { return wakePrefix + key }
