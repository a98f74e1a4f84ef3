package redisnode

import (
	"slices"

	"redlocksim/internal/batch"
)

// Servers since Valkey 9.0 and Redis 8.4 have a command that compares a key's value and deletes the key. Such a plain command
// costs a server a small part of what a script does. Which ones a server has and allows is found out by the script of the first
// contact, which tries them on a free key. A server that turns out not to have one after all, as after a failover, gets a
// script instead.

// firstContact is an argument of a script that is the first contact: to look whether the lock can be extended and
// released, and by which plain commands.
const firstContact = "first"

// appendPlain writes out a release that a plain command carries out.
func appendPlain(args []any, r *batch.Request) ([]any, Kind) {
	keys, value, _ := batch.Arguments(r.First)
	args = slices.Grow(args, 4)
	if r.Script == batch.DelIfEq {
		return append(args, "delifeq", keys[0], value), Anything
	}
	return append(args, "delex", keys[0], "ifeq", value), Anything
}

// foundPlain is what the script of the first contact has found, which it adds to its answer; 0 if that is nothing.
func foundPlain(r *batch.Request, a Answer) int64 {
	list, _ := a.Value.([]any)
	without := 1
	switch r.Script {
	case batch.Vote:
		without = 2
	case batch.Votes:
		without = r.Len()
	}
	if len(list) != without+1 {
		return 0
	}
	found, _ := list[without].(int64)
	return found
}
