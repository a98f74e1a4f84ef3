package redis

import (
	"regexp"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// Intent is what a command wants to do to keys, as it can be told from the command, whatever lock sends it.
type Intent uint8

const (
	// NoIntent is that of commands that do not concern locks, or of which nothing can be told, as of a script by a hash that
	// was not seen before; the zero value.
	NoIntent Intent = iota
	// Sets: the keys get a value.
	Sets
	// Extends: the keys get another deadline.
	Extends
	// Deletes: the keys go.
	Deletes
)

// Command is one command of a request, the same on all tiers.
type Command struct {
	Intent
	Keys []string
	// Shares says that it shares a script with the command before, and the two are one command to the node. A tier that sees
	// what the node does tells of both as one.
	Shares bool
	// Args are the arguments behind the keys: of what tier model carries out for the library, the lock's value alone. Of all
	// others it is one of them, if there is one.
	Args []string
	// Deadline is when the client stops waiting for the answer, by the clock that its code reads; zero if nobody else knows.
	Deadline time.Time
	// Latest says that this is so for the last of several commands that were sent together, and may be earlier for the others.
	Latest bool
	// Source is the script that the library's adapter sends in full, or a name for that; empty if it names one by its hash.
	Source string
	// Answer is what the node has answered to the library; Unanswered before that, and if the answer came in part.
	Answer driver.Outcome
}

// calls finds the commands that a script calls.
var calls = regexp.MustCompile(`redis\.p?call\(\s*['"](\w+)['"]`)

// IntentOf is what a script wants to do, by the commands that it calls: if it sets keys, that, although it may delete and
// extend others on the way.
func IntentOf(script string) (intent Intent) {
	for _, call := range calls.FindAllStringSubmatch(script, -1) {
		switch strings.ToUpper(call[1]) {
		case "SET", "SETNX":
			return Sets
		case "DEL", "UNLINK":
			intent = Deletes
		case "EXPIRE", "PEXPIRE":
			if intent == NoIntent {
				intent = Extends
			}
		}
	}
	return intent
}

// IntentOfOp is what an operation of the library wants.
func IntentOfOp(op driver.Op) Intent {
	switch op {
	case driver.OpExtend:
		return Extends
	case driver.OpRelease:
		return Deletes
	}
	return Sets
}

// PlainCommand is a command by its words, which is no script.
func PlainCommand(words []string, deadline time.Time) Command {
	c := Command{Deadline: deadline}
	if len(words) < 2 {
		return c
	}
	switch strings.ToUpper(words[0]) {
	case "SET", "SETNX":
		c.Intent, c.Keys, c.Args = Sets, words[1:2], words[2:]
		if isIfEq(words[1:]) {
			c.Intent = Extends
		}
	case "DELIFEQ", "DELEX":
		c.Intent, c.Keys, c.Args = Deletes, words[1:2], words[2:]
	case "DEL", "UNLINK":
		c.Intent, c.Keys = Deletes, words[1:]
	case "EXPIRE", "PEXPIRE":
		c.Intent, c.Keys = Extends, words[1:2]
	}
	return c
}

// ScriptCommand is a call of a script.
func ScriptCommand(s *rediscmd.Script, keys, argv []string, deadline time.Time) Command {
	return Command{Intent: IntentOf(s.Lua), Keys: keys, Args: argv, Deadline: deadline}
}
