package redis

import (
	"fmt"
	"slices"
	"strings"
)

// Software is the program that a node runs, and its version, as far as that decides which commands it has. The zero value is
// Redis 7.0.
type Software uint8

const (
	Redis70 Software = iota
	Redis80
	Redis84
	Valkey81
	Valkey91
)

// plainCommands are those of each that compare a key's value and set or delete the key.
var plainCommands = [...][]string{Redis84: {"SET IFEQ", "DELEX"}, Valkey81: {"SET IFEQ"}, Valkey91: {"SET IFEQ", "DELIFEQ"}}

// has reports whether the software has one of these commands.
func (s Software) has(command string) bool { return slices.Contains(plainCommands[s], command) }

// Software is what the node runs.
func (s *Server) Software() Software { return s.software }

// Scripts is what Forbidden is for a node that allows no scripts.
const Scripts = "EVAL"

// Refuses is what the node says of a command that it does not have, or does not allow, to a client or to a script; empty if it
// carries it out. Of commands that not every software has these count: DELIFEQ, DELEX, and SET with IFEQ. The name is in
// capitals.
func (s *Server) Refuses(name string, args []string, isInScript bool) string {
	switch {
	case s.forbidden == Scripts && (name == "EVAL" || name == "EVALSHA"):
		return fmt.Sprintf("NOPERM User default has no permissions to run the '%s' command", strings.ToLower(name))
	case name == s.forbidden, (name == "DELIFEQ" || name == "DELEX") && !s.software.has(name):
	case name == "SET" && isIfEq(args) && !s.software.has("SET IFEQ"):
		return "ERR syntax error"
	default:
		return ""
	}
	switch {
	case !isInScript:
		return fmt.Sprintf("ERR unknown command '%s'", strings.ToLower(name))
	case s.software == Redis70:
		return "ERR Unknown Redis command called from script"
	}
	return "ERR Unknown command called from script"
}

// isIfEq reports whether a SET sets the key only if it has a value.
func isIfEq(args []string) bool {
	return len(args) > 2 && slices.ContainsFunc(args[2:], func(w string) bool { return strings.EqualFold(w, "IFEQ") })
}
