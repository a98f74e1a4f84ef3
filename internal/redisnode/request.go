package redisnode

import (
	"slices"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Kind is with what a command is answered.
type Kind uint8

const (
	// Anything: by a script or a plain command of newer servers, with a number, a text, nil or a list of numbers and texts.
	Anything Kind = iota
	// Status: by a SET, with a status or nil.
	Status
	// Number: by a WAIT, with a number.
	Number
)

// appendRequest writes a request out. With looks, while nothing is known of what the server allows, acquires ask for that as
// well, and what could be a plain SET goes by a script, in full: it costs no further round trip.
func appendRequest(args []any, r *batch.Request, looks bool) ([]any, Kind) {
	if r.IsJoint() {
		return appendJoint(args, r, looks), Anything
	}
	c := r.First
	keys, value, ttl := batch.Arguments(c)
	if r.Script == batch.None && looks {
		return append(slices.Grow(args, 7), "eval", scripts[batch.Acquire].source, 1, keys[0], value, ttl, firstContact), Anything
	}
	if r.Script == batch.None {
		return append(slices.Grow(args, 6), "set", keys[0], value, "nx", "px", ttl), Status
	}
	if r.Script.IsPlain() {
		return appendPlain(args, r)
	}
	q := c.Conditions
	args = slices.Grow(args, 3+4*len(keys)+1+8)
	args = call(args, r)
	count := len(args)
	args = append(args, 0) // the number of keys, below
	args = append(args, keys...)
	if c.Op == driver.OpAcquire && q != nil {
		args = appendKeysUnder(args, c)
	}
	if r.Line != nil {
		for _, key := range c.Keys {
			args = append(args, driver.LineKey(key))
		}
		for _, key := range c.Keys {
			args = append(args, driver.TurnKey(key))
		}
	}
	args[count] = len(args) - count - 1
	switch c.Op {
	case driver.OpAcquire:
		args = append(args, value, ttl)
		if q != nil {
			args = append(args, q.Token, int64(q.CounterTTL/time.Millisecond), int64(q.MaxTTL/time.Millisecond), q.Watched)
		}
		switch {
		case looks:
			args = append(args, firstContact)
		case r.Line != nil:
			args = append(args, "")
		}
		if r.Line != nil {
			args = append(args, r.Line.Waiter)
		}
	case driver.OpExtend:
		args = append(args, value, ttl)
	case driver.OpRelease:
		args = append(args, value)
		if r.Line != nil {
			args = append(args, driver.WakeChannel(""), int64(r.Line.Turn/time.Millisecond), r.Line.Waiter)
		}
	case driver.OpPrepare:
		args = append(args, int64(q.MaxTTL/time.Millisecond), q.Watched)
	}
	return args, Anything
}

// appendKeysUnder adds the further keys that an acquire under conditions touches, in the order in which vote.lua takes
// them.
func appendKeysUnder(args []any, c *driver.Command) []any {
	if c.Conditions.Token != 0 {
		for _, key := range c.Keys {
			args = append(args, driver.TokenKey(key))
		}
	}
	if c.Conditions.MaxTTL != 0 {
		args = append(args, driver.GuardKey)
	}
	return args
}
