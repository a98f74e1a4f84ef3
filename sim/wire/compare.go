package wire

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

const (
	wrongType    = "WRONGTYPE Operation against a key holding the wrong kind of value"
	wrongForCond = "ERR Key should be of string type if conditions are specified"
)

// compares carries out the commands that compare a key's value, of those which the node has: DELIFEQ, DELEX with IFEQ, and SET
// with IFEQ. miniredis has at most the second. It reports whether the command is one of them.
func (m *memory) compares(c *server.Peer, command string, args []string) bool {
	var condition, rest []string // IFEQ and the value; and what is left of the command without them
	switch at := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "IFEQ") }); {
	case command == "DELIFEQ" && len(args) == 2:
		condition = args[1:]
	case command == "DELEX" && len(args) == 3 && at == 1:
		condition = args[2:]
	case command == "SET" && at >= 2 && at+1 < len(args):
		condition, rest = args[at+1:at+2], append(slices.Clone(args[:at]), args[at+2:]...)
	default:
		return false
	}
	key := args[0]
	is := m.db.Exists(key)
	if is && m.db.Type(key) != "string" {
		if command == "DELEX" {
			c.WriteError(wrongForCond)
		} else {
			c.WriteError(wrongType)
		}
		return true
	}
	if is {
		value, err := m.db.Get(key)
		is = err == nil && value == condition[0]
	}
	switch {
	case command == "SET" && is:
		m.redis.Server().Dispatch(c, append([]string{command}, rest...))
	case command == "SET":
		c.WriteNull()
	case is:
		m.db.Del(key)
		c.WriteInt(1)
	default:
		c.WriteInt(0)
	}
	return true
}
