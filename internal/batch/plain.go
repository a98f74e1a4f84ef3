package batch

import "redlocksim/redlock/driver"

// plain are the commands of newer servers that carry out a request without a script.
const plain = Scripts(1<<DelIfEq | 1<<DelEx | 1<<SetIfEq | 1<<PlainOnly)

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
		case c.Wake && !known.Has(PlainOnly): // publishing takes a script; who may call none releases all the same
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

// LearnPlain notes the plain commands that a node has and allows, as found says: the sum of 1 for DELIFEQ, 2 for DELEX, 4 for
// SET IFEQ, and 8 if a lock must do with them.
func (k *Known) LearnPlain(found int64) {
	for i, s := range [...]Script{DelIfEq, DelEx, SetIfEq, PlainOnly} {
		if found&(1<<i) != 0 {
			k.learn(s)
		}
	}
}

// DoubtPlain forgets the plain commands, because another server may be there now, or another user, and reports whether there
// were any.
func (k *Known) DoubtPlain() bool { return Scripts(k.bits.And(^uint32(plain)))&plain != 0 }
