package batch

import (
	"slices"

	"redlocksim/redlock/driver"
)

// plain are the commands of newer servers that carry out a request without a script, and that a lock must do with them.
const plain = Scripts(1<<DelIfEq|1<<DelEx|1<<SetIfEq) | plainOnly

// SuitsPlain reports whether plain commands can be all that a lock needs, from this acquire on: it has one key and no
// conditions, and its TTL is that of all its extends. An extend by SET IFEQ sets the TTL, whatever is left of it: one that
// comes late would cut short a longer one.
func SuitsPlain(c *driver.Command) bool {
	return len(c.Keys) == 1 && c.Conditions == nil && (c.OneTTL || c.Op == driver.OpRelease)
}

// plainFor is the plain command that carries out a command on a node which knows these; None if a script does.
func plainFor(c *driver.Command, known Scripts) Script {
	if known&plain == 0 || !SuitsPlain(c) {
		return None
	}
	switch c.Op {
	case driver.OpExtend:
		if known.Has(SetIfEq) {
			return SetIfEq
		}
	case driver.OpRelease:
		switch {
		case c.Wake && known&plainOnly == 0: // publishing takes a script; who may call none releases all the same
		case known.Has(DelIfEq):
			return DelIfEq
		case known.Has(DelEx):
			return DelEx
		}
	}
	return None
}

// wayOf is what carries out a command by itself on a node that knows these.
func wayOf(c *driver.Command, known Scripts) Script {
	if s := plainFor(c, known); s != None {
		return s
	}
	return scriptOf(c)
}

// found is what is found out about a node beside its scripts.
const found = plain | able | neither

// Learn notes what the first contact has found, which is all that a lock needs, or enough: the sum of 1 for DELIFEQ, 2 for
// DELEX, 4 for SET IFEQ, and 8 if a lock must do with them.
func (k *Known) Learn(commands int64) {
	learned := able
	if commands&8 != 0 {
		learned = plainOnly
	}
	for i, s := range [...]Script{DelIfEq, DelEx, SetIfEq} {
		if commands&(1<<i) != 0 {
			learned = learned.With(s)
		}
	}
	k.Doubt()
	k.note(learned)
}

// Doubt forgets what was found out, because another server may be there now, or another user.
func (k *Known) Doubt() { k.bits.And(^uint32(found)) }

// Forbade takes that the node has forbidden something, a script or a command in one. It forbids scripts if it is known for
// that; otherwise all is in doubt.
func (k *Known) Forbade(isScript bool) {
	if !isScript || k.Scripts()&(plainOnly|neither) == 0 {
		k.Doubt()
	}
}

// Needed is what a server must allow, and Instead what does where it forbids scripts.
const (
	Needed  = "the server must allow EVAL, EVALSHA, SET, GET, EXISTS, DEL, PTTL and PEXPIRE on the keys of locks, and with the restart guard INFO and TIME"
	Instead = "or for locks of one key, of a client WithOneTTL, SET, SET with IFEQ and one of DELIFEQ and DELEX, which it has from Valkey 9.0 or Redis 8.4 on"
)

// looks reports whether acquires are to find out what the node allows. A node that allows plain commands alone is asked again
// by those that need more.
func looks(commands []*driver.Command, known Scripts) bool {
	if known&able != 0 {
		return false
	}
	return known&plainOnly == 0 || slices.ContainsFunc(commands, func(c *driver.Command) bool {
		return c.Op == driver.OpAcquire && !SuitsPlain(c)
	})
}

// Trial is what a batch has met so far of a node that forbids scripts, or what they do. The zero value is that of a new batch.
type Trial struct {
	isBarred bool // it forbids that
	isOver   bool // it was asked for its plain commands
}

// Bars takes that the node forbids the script of a command, in full, or what it does, and reports whether plain commands might
// do. Acquires find out each time.
func (t *Trial) Bars(c *driver.Command, known Scripts) bool {
	if t.isOver || !SuitsPlain(c) || c.Op != driver.OpAcquire && known&neither != 0 {
		return false
	}
	t.isBarred = true
	return true
}

// Again is what to take a node for when commands that missed are sent to it again: to know no script. With asks it is to be
// asked for its plain commands before, because it is barred; see Asked.
func (t *Trial) Again(known *Known) (as Scripts, asks bool) {
	asks = t.isBarred && !t.isOver
	if asks || known.Scripts()&plain != 0 {
		known.Doubt() // the server may be another one
	}
	t.isOver = t.isOver || asks
	return known.Scripts() & (able | apart), asks
}

// Tried is what came of asking a node for its plain commands.
type Tried struct {
	Found int64 // those it has, as in Known.Learn
	Heard bool  // all answers have come
}

// Asked notes which plain commands a node was found to have. If they are enough it returns what to take the node for. Otherwise
// those of the commands fail that plain commands could have carried out, and it returns the others, in the same slice: they are
// to be sent again if they are Wanted.
func (t *Trial) Asked(known *Known, tried Tried, again []*driver.Command, fail func(*driver.Command)) (as Scripts, others []*driver.Command) {
	if all, enough := FoundEnough(tried.Found); enough {
		known.Learn(all)
		return known.Scripts(), again
	}
	if tried.Heard {
		known.note(neither)
	}
	return known.Scripts() & apart, slices.DeleteFunc(again, func(c *driver.Command) bool {
		fails := SuitsPlain(c)
		if fails {
			fail(c)
		}
		return fails
	})
}

// FoundEnough adds to the plain commands found, as in Known.Learn, that a lock must do with them; ok is whether it can: it
// needs SET IFEQ and one that deletes.
func FoundEnough(commands int64) (all int64, ok bool) { return commands | 8, commands >= 5 }
