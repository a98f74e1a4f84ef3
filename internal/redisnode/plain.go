package redisnode

import (
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Servers since Valkey 8.1 and Redis 8.4 have commands that compare a key's value and set or delete the key. Such a plain
// command costs a server a small part of what a script does, and may be allowed to users to whom scripts are not. Which ones a
// server has and allows is found out by the script of the first contact, which tries them on a free key; or by trials, if the
// server forbids scripts. A server that turns out not to have one after all, as after a failover, gets a script instead.

// The last argument of a script that is the first contact: to look whether the lock can be extended and released, by a script
// or by plain commands as well.
const (
	firstContact      = "first"
	firstContactPlain = "plain"
)

// firstContactOf is what an acquire wants to know.
func firstContactOf(c *driver.Command) string {
	if batch.SuitsPlain(c) {
		return firstContactPlain
	}
	return firstContact
}

// appendPlain writes out a request that a plain command carries out.
func appendPlain(args []any, r *batch.Request) ([]any, Kind) {
	keys, value, ttl := r.First.Arguments()
	args = slices.Grow(args, 7)
	switch r.Script {
	case batch.DelIfEq:
		return append(args, "delifeq", keys[0], value), Anything
	case batch.DelEx:
		return append(args, "delex", keys[0], "ifeq", value), Anything
	}
	return append(args, "set", keys[0], value, "ifeq", value, "px", ttl), Status
}

// trials is how many commands ask a server that forbids scripts for the plain commands that a lock needs. They try these with a
// value that no key has.
const trials = 3

// appendTrial writes out one of the trials, for the key of a command.
func appendTrial(args []any, c *driver.Command, number int) ([]any, Kind) {
	key, value := c.Keys[0], c.Value+"?"
	switch number {
	case 0:
		return append(args, "delifeq", key, value), Anything
	case 1:
		return append(args, "delex", key, "ifeq", value), Anything
	}
	return append(args, "set", key, value, "ifeq", value, "px", 1), Status
}

// triedPlain reads the answers to the trials.
func triedPlain(answer func(number int) Answer) batch.Tried {
	tried := batch.Tried{Heard: true}
	for number := range trials {
		switch a := answer(number); {
		case a.Value == int64(0), a.IsNil, isOfOtherType(a.Err):
			tried.Found |= 1 << number
		case a.Err != nil && a.Outcome != driver.Failed:
			tried.Heard = false
		}
	}
	return tried
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
