package batch

import (
	"slices"
	"time"

	"redlocksim/redlock/driver"
)

// Request is one request of a message, for one command or for several that share a script.
type Request struct {
	Script Script
	// InFull: the request carries the source of its script. Otherwise it names the script by its hash.
	InFull bool
	First  *driver.Command
	Line   *driver.Line // of First; nil on a node that keeps none
	Others []*driver.Command

	answered int // how many of its commands were answered
}

// Len is how many commands the request is for.
func (r *Request) Len() int { return 1 + len(r.Others) }

// Command is one of them, in the order of the message.
func (r *Request) Command(i int) *driver.Command {
	if i == 0 {
		return r.First
	}
	return r.Others[i-1]
}

// IsJoint reports whether the request is for several commands.
func (r *Request) IsJoint() bool { return len(r.Others) > 0 }

// kind is how commands can be joined: several of one kind go to the node as one script, which answers with a list. Starting a
// script costs the server more than what most of them do, and the restart guard's look at the server's run far more.
type kind uint8

const (
	alone kind = iota
	release
	vote
	kinds
)

// kindOf: a release of one key, which calls nobody, or an acquire of one key under the restart guard, without a token and
// with no quarantine to end; on a node without slots. guard is the largest TTL of those votes that are joined.
func kindOf(c *driver.Command, guard time.Duration, known Scripts) kind {
	switch q := c.Conditions; {
	case len(c.Keys) != 1 || known&apart != 0 || plainFor(c, known) != None:
	case c.Line != nil:
	case c.Op == driver.OpRelease:
		return release
	case c.Op == driver.OpAcquire && q != nil && q.MaxTTL != 0 && q.MaxTTL == guard && q.Token == 0 && q.Watched == "":
		return vote
	}
	return alone
}

// arrange makes requests of commands, and says which of them each command is in. A command joins an earlier one of its kind
// unless something in between concerns its key: for each key the order is kept.
func arrange(commands []*driver.Command, known Scripts) (requests []Request, of []int) {
	var guard time.Duration
	for _, c := range commands {
		if c.Conditions != nil && c.Conditions.MaxTTL != 0 {
			guard = c.Conditions.MaxTTL
			break
		}
	}
	separate := int(kinds)
	for _, c := range commands {
		if kindOf(c, guard, known) == alone {
			separate++
		}
	}
	requests, of = make([]Request, 0, min(separate, len(commands))), make([]int, len(commands))
	var open [kinds]int // the last request of a kind, from 1
	for i, c := range commands {
		k := kindOf(c, guard, known)
		at := open[k] - 1
		isLast := at == len(requests)-1 // as in a client's batches, which begin with its releases
		if k != alone && at >= 0 && (isLast || !isTouched(c.Keys[0], commands[:i], of, at)) {
			r := &requests[at]
			r.Others = append(r.Others, c)
			r.Script = [...]Script{release: Releases, vote: Votes}[k]
			of[i] = at
			continue
		}
		requests = append(requests, Request{Script: wayOf(c, known), First: c, Line: lineOf(c, known)})
		open[k], of[i] = len(requests), len(requests)-1
	}
	return requests, of
}

// isTouched reports whether one of those commands, which are in these requests, concerns the key after the request at.
func isTouched(key string, commands []*driver.Command, of []int, at int) bool {
	for i, c := range commands {
		if of[i] > at && slices.Contains(c.Keys, key) {
			return true
		}
	}
	return false
}

// Lender is the Shared of a command whose client lends what the commands of an acquisition have in common, so that not every
// node has to make it.
type Lender interface {
	// Arguments are those of a command with these keys, value and TTL: those that the client gave it, or what somebody between
	// the client and the node made of them.
	Arguments(ofKeys []string, ofValue string, ofTTL time.Duration) (keys []any, value, ttl any)
}

// Arguments are the keys, the value and the TTL in milliseconds (an int64) of a command as arguments of a Redis command, not to
// be modified.
func Arguments(c *driver.Command) (keys []any, value, ttl any) {
	if l, lends := c.Shared.(Lender); lends {
		return l.Arguments(c.Keys, c.Value, c.TTL)
	}
	return KeyArguments(c.Keys), c.Value, c.TTL.Milliseconds()
}

// KeyArguments are keys as the arguments of a Redis command.
func KeyArguments(keys []string) []any {
	args := make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	return args
}
