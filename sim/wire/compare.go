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
	at := -1 // where IFEQ is, behind the value that SET sets
	if len(args) > 2 {
		at = slices.IndexFunc(args[2:], func(a string) bool { return strings.EqualFold(a, "IFEQ") }) + 2
	}
	var condition string
	var rest []string // of SET, without the condition
	switch {
	case command == "DELIFEQ" && len(args) == 2:
		condition = args[1]
	case command == "DELEX" && len(args) == 3 && strings.EqualFold(args[1], "IFEQ"):
		condition = args[2]
	case command == "SET" && at >= 2 && at+1 < len(args):
		condition, rest = args[at+1], append(slices.Clone(args[:at]), args[at+2:]...)
		if why := m.misfit(c, rest); why != "" {
			c.WriteError(why)
			return true
		}
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
		is = err == nil && value == condition
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

// misfit is what is wrong with a SET apart from its IFEQ, with which neither NX nor another IFEQ go; empty if nothing is. It is
// said also where the value is another.
func (m *memory) misfit(c *server.Peer, args []string) string {
	for _, option := range args[2:] {
		if o := strings.ToUpper(option); o == "NX" || o == "XX" || o == "IFEQ" {
			return "ERR syntax error"
		}
	}
	return m.expiry.refusal(c, "SET", args)
}
