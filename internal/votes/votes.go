// Package votes carries out the library's commands in Go, as the scripts of internal/redisnode do on a server: for the nodes of
// the simulator's tier model, and with [Memory] for those of package redlocktest and of the library's own tests.
package votes

import (
	"strconv"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// Key is what a key holds, until the node's clock reads more than a time in milliseconds; 0 is for good.
type Key struct {
	Value   string
	Until   int64
	IsOther bool // it holds no string
}

// Keys are those of a node, which are looked at and changed while its clock reads now.
type Keys interface {
	// Get looks at a key, which goes if it has expired.
	Get(key string, now int64) (k Key, there bool)
	Set(key, value string, until int64)
	Delete(key string)
	// Publish sends a message to those who listen on a channel, and counts them.
	Publish(channel, message string) (listeners int)
	// RunID tells the runs of the node between restarts apart.
	RunID() string
}

// ErrWrongType is what a server answers about a key that holds no string.
const ErrWrongType = rediscmd.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")

var wrongType = driver.Reply{Outcome: driver.Failed, Err: ErrWrongType}

// Do carries out a command.
func Do(keys Keys, c *driver.Command, now int64) driver.Reply {
	switch c.Op {
	case driver.OpAcquire:
		reply, free := Look(keys, c, now)
		if free {
			reply = Cast(keys, c, now)
		}
		if c.Line != nil && reply.Outcome == driver.Declined {
			join(keys, c, now)
		}
		return reply
	case driver.OpExtend:
		return extend(keys, c, now)
	case driver.OpRelease:
		return release(keys, c, now)
	}
	return prepare(keys, c.Conditions)
}

// Look says whether the node may vote for an acquire, or what it answers instead. It looks at the same keys as the scripts do,
// because looking at a key removes it if it has expired.
func Look(keys Keys, c *driver.Command, now int64) (reply driver.Reply, free bool) {
	if c.Conditions == nil {
		for _, key := range c.Keys { // up to the first that is taken
			if _, taken := keys.Get(key, now); taken || isTurnOfAnother(keys, c, key, now) {
				return driver.Reply{Outcome: driver.Declined}, false
			}
		}
		return reply, true
	}
	if c.Conditions.MaxTTL != 0 {
		if reply, fit := Fit(keys, c.Conditions, now); !fit {
			return reply, false
		}
	}
	token := c.Conditions.Token
	var counter int64
	if token != 0 {
		for _, key := range c.Keys {
			if k, there := keys.Get(driver.TokenKey(key), now); there {
				n, err := readCounter(k)
				if err != nil {
					return driver.Reply{Outcome: driver.Failed, Err: err}, false
				}
				counter = max(counter, n)
			}
		}
	}
	taken := false
	for _, key := range c.Keys {
		k, there := keys.Get(key, now)
		taken = taken || there && !isFirstVote(k, c) || isTurnOfAnother(keys, c, key, now)
	}
	switch {
	case taken:
		return driver.Reply{Outcome: driver.Declined, Token: counter}, false
	case token != 0 && token <= counter:
		return driver.Reply{Outcome: driver.Behind, Token: counter}, false
	}
	return reply, true
}

// isFirstVote says whether a key was taken for the first token of the same acquisition.
func isFirstVote(k Key, c *driver.Command) bool {
	return c.Conditions != nil && c.Conditions.Token != 0 && !k.IsOther && k.Value == c.Value
}

// Cast votes for an acquire.
func Cast(keys Keys, c *driver.Command, now int64) driver.Reply {
	for _, key := range c.Keys {
		until := now + c.TTL.Milliseconds()
		if c.Conditions != nil && c.Conditions.Token != 0 {
			if k, there := keys.Get(key, now); there {
				until = max(until, k.Until)
			}
		}
		keys.Set(key, c.Value, until)
		if q := c.Conditions; q != nil && q.Token != 0 {
			keys.Set(driver.TokenKey(key), strconv.FormatInt(q.Token, 10), now+q.CounterTTL.Milliseconds())
		}
	}
	if c.Line != nil {
		for _, key := range c.Keys {
			stepOut(keys, c.Line.Waiter, key, now)
		}
	}
	return driver.Reply{Outcome: driver.Accepted}
}

// readCounter parses a key's counter: only in the form in which the script itself writes it.
func readCounter(k Key) (int64, error) {
	if k.IsOther {
		return 0, ErrWrongType
	}
	n, err := strconv.ParseInt(k.Value, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != k.Value {
		return 0, rediscmd.ServerError("ERR value is not an integer or out of range")
	}
	return n, nil
}

func extend(keys Keys, c *driver.Command, now int64) driver.Reply {
	for _, key := range c.Keys {
		switch k, there := keys.Get(key, now); {
		case there && k.IsOther:
			return wrongType
		case !there || k.Value != c.Value:
			return driver.Reply{Outcome: driver.Declined}
		}
	}
	until := now + c.TTL.Milliseconds()
	for _, key := range c.Keys {
		if k, _ := keys.Get(key, now); k.Until < until { // a key without a TTL is given one, too
			keys.Set(key, k.Value, until)
		}
	}
	return driver.Reply{Outcome: driver.Accepted}
}

func release(keys Keys, c *driver.Command, now int64) driver.Reply {
	reply := driver.Reply{Outcome: driver.Accepted}
	for _, key := range c.Keys {
		switch k, there := keys.Get(key, now); {
		case there && !k.IsOther && k.Value == c.Value:
			keys.Delete(key)
			if c.Line != nil && c.Line.Turn != 0 {
				reply.Called = callNext(keys, c.Line, key, now) || reply.Called
			}
		case there && k.IsOther:
			reply = wrongType
		case reply.Outcome != driver.Failed:
			reply.Outcome = driver.Declined
		}
		if c.Line != nil && c.Line.Waiter != "" && stepOut(keys, c.Line.Waiter, key, now) && c.Line.Turn != 0 {
			if _, taken := keys.Get(key, now); !taken {
				callNext(keys, c.Line, key, now)
			}
		}
	}
	reply.Called = reply.Called && reply.Outcome == driver.Accepted
	return reply
}
