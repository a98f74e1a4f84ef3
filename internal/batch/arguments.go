package batch

import (
	"time"

	"redlocksim/redlock/driver"
)

// Lender is the Shared of a command whose client lends what the commands of an acquisition have in common, so that not every
// node has to make it.
type Lender interface {
	// Arguments are those of a command with these keys, value and TTL: those that the client gave it, or what somebody between
	// the client and the node made of them.
	Arguments(ofKeys []string, ofValue string, ofTTL time.Duration) (keys []any, value, ttl any)
}

// Arguments are the keys, the value and the TTL in milliseconds (an int64) of a command as arguments of a Redis command, not to
// be modified.
func Arguments(c *driver.Command) (keys []any, value, ttl any) {
	if l, lends := c.Shared.(Lender); lends {
		return l.Arguments(c.Keys, c.Value, c.TTL)
	}
	return KeyArguments(c.Keys), c.Value, c.TTL.Milliseconds()
}

// KeyArguments are keys as the arguments of a Redis command.
func KeyArguments(keys []string) []any {
	args := make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	return args
}
