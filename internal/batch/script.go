package batch

import (
	"fmt"
	"sync/atomic"

	"redlocksim/redlock/driver"
)

// Script is what carries out a request: one of the library's Lua scripts, or a plain command.
type Script uint8

const (
	// None is a plain SET NX PX, the whole acquire of one key without conditions; the zero value.
	None Script = iota
	// Acquire, Vote (an acquire with conditions), Extend, Release and Prepare carry out one command each.
	Acquire
	Vote
	Extend
	Release
	Prepare
	// Votes and Releases carry out several commands, of one key each.
	Votes
	Releases
	// NumScripts is the number of scripts, None included.
	NumScripts
	// DelIfEq is DELIFEQ (Valkey 9.0), and DelEx is DELEX with IFEQ (Redis 8.4).
	DelIfEq
	DelEx
	numWays
)

// IsPlain reports whether it is a plain command, None among them.
func (s Script) IsPlain() bool { return s == None || s > NumScripts }

// lineOf is that of a command on a node which knows these: nil on one with slots, which keeps the line of a key in another
// slot, and on one whose user may not touch lines.
func lineOf(c *driver.Command, known Scripts) *driver.Line {
	if known&(apart|lineless) != 0 {
		return nil
	}
	return c.Line
}

// scriptOf is what carries out a command by itself, if not a plain command of newer servers.
func scriptOf(c *driver.Command, known Scripts) Script {
	switch c.Op {
	case driver.OpAcquire:
		switch {
		case c.Conditions != nil:
			return Vote
		case len(c.Keys) == 1 && lineOf(c, known) == nil:
			return None
		}
		return Acquire
	case driver.OpExtend:
		return Extend
	case driver.OpRelease:
		return Release
	case driver.OpPrepare:
		return Prepare
	}
	panic(fmt.Sprintf("batch: no such operation: %v", c.Op))
}

// Scripts is what is known of a node: the scripts and plain commands that it knows, and what else was found out about it.
type Scripts uint32

// What else is found out about a node.
const (
	able     Scripts = 1 << (numWays + iota) // its first vote has shown that it allows all that a lock needs
	apart                                    // it runs no script for keys of several slots: commands are not joined
	lineless                                 // its user may not touch the keys of lines
)

// Has reports whether the script is in the set. None always is: it has no source that a node would have to know.
func (all Scripts) Has(s Script) bool { return s == None || all&(1<<s) != 0 }

// With is the set and the script.
func (all Scripts) With(s Script) Scripts { return all | 1<<s }

// Known is what a node has shown, which begins with nothing. It can be used by several goroutines at once. The zero value is
// ready for use.
type Known struct{ bits atomic.Uint32 }

// Scripts is that, as of now.
func (k *Known) Scripts() Scripts { return Scripts(k.bits.Load()) }

// Part notes that the node keeps its keys in slots, so that no script may have those of several commands.
func (k *Known) Part() { k.note(apart) }

// Unline notes that the node's user may not touch the keys of lines.
func (k *Known) Unline() { k.note(lineless) }

// IsLineless says whether that was noted.
func (k *Known) IsLineless() bool { return k.Scripts()&lineless != 0 }

func (k *Known) learn(s Script) { k.note(Scripts(0).With(s)) }

func (k *Known) note(what Scripts) { k.bits.Or(uint32(what)) }

func (k *Known) forget(s Script) { k.bits.And(^uint32(Scripts(0).With(s))) }
