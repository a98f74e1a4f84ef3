package batch

import "redlocksim/redlock/driver"

// plain are the commands of newer servers that carry out a release without a script.
const plain = Scripts(1<<DelIfEq | 1<<DelEx)

// plainFor is the plain command that carries out a command on a node which knows these; None if a script does. Lines, and what
// concerns several keys, take a script. So does an extend: SET IFEQ sets the TTL, whatever is left of it, and one that
// comes late would cut short a longer one.
func plainFor(c *driver.Command, known Scripts) Script {
	switch {
	case c.Op != driver.OpRelease || lineOf(c, known) != nil || len(c.Keys) != 1:
	case known.Has(DelIfEq):
		return DelIfEq
	case known.Has(DelEx):
		return DelEx
	}
	return None
}

// wayOf is what carries out a command by itself on a node that knows these.
func wayOf(c *driver.Command, known Scripts) Script {
	if s := plainFor(c, known); s != None {
		return s
	}
	return scriptOf(c, known)
}

// Learn notes that the first contact has found all that a lock needs, and the plain commands that it has found beside that: the
// sum of 1 for DELIFEQ and 2 for DELEX.
func (k *Known) Learn(commands int64) {
	k.Doubt()
	learned := able
	for i, s := range [...]Script{DelIfEq, DelEx} {
		if commands&(1<<i) != 0 {
			learned = learned.With(s)
		}
	}
	k.note(learned)
}

// Doubt forgets what the first contact has found, because another server may be there now, or another user.
func (k *Known) Doubt() { k.bits.And(^uint32(plain | able)) }

// Needed is what a server must allow.
const Needed = "the server must allow EVAL, EVALSHA, SET, GET, EXISTS, DEL, PTTL and PEXPIRE on the keys of locks, and with the restart guard INFO and TIME"
