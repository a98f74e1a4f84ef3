package model

import (
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// look is what the adapter's first contact finds out about a server, by needs.lua.
type look struct {
	fails bool  // the server does not allow what a lock needs
	found int64 // as in batch.Known.Learn
}

// firstContact is what the script for a request finds if it looks.
func (s *store) firstContact(r *batch.Request, looks bool, now int64) (l look) {
	if !looks || r.First.Op != driver.OpAcquire {
		return l
	}
	// Otherwise nothing is tried.
	isFree := func(key string) bool { return s.isFree(key, now) }
	for i := range r.Len() {
		if slices.ContainsFunc(r.Command(i).Keys, isFree) {
			l.found = s.plainCommands()
		}
	}
	if s.server.Forbidden() == "" {
		return l
	}
	all, enough := batch.FoundEnough(l.found)
	if !batch.SuitsPlain(r.First) || !enough {
		return look{fails: true}
	}
	return look{found: all}
}

// isFree reports whether there is no such key, or one that has expired.
func (s *store) isFree(key string, now int64) bool {
	r, there := s.keys[key]
	return !there || r.expiresAt != 0 && now > r.expiresAt
}

// plainCommands are those that the server has and allows, as in batch.Known.Learn.
func (s *store) plainCommands() (found int64) {
	for i, command := range [...][]string{{"DELIFEQ"}, {"DELEX"}, {"SET", "", "", "IFEQ"}} {
		if s.server.Refuses(command[0], command[1:], false) == "" {
			found |= 1 << i
		}
	}
	return found
}

// names are the plain commands as requests have them.
var names = map[batch.Script]string{batch.None: "SET", batch.DelIfEq: "DELIFEQ", batch.DelEx: "DELEX", batch.SetIfEq: "SET"}

// errWrongForCondition is what DELEX answers about a key that is not a string.
const errWrongForCondition = rediscmd.ServerError("ERR Key should be of string type if conditions are specified")

// plain carries out a request that is DELIFEQ, DELEX with IFEQ or SET with IFEQ.
func (s *store) plain(r *batch.Request, now int64) answer {
	var args []string
	if r.Script == batch.SetIfEq {
		args = []string{"", "", "IFEQ"}
	}
	if s.server.Refuses(names[r.Script], args, false) != "" {
		return answer{fate: batch.Missed}
	}
	c := r.First
	held, there := s.get(c.Keys[0], now)
	reply := driver.Reply{Outcome: driver.Declined}
	switch {
	case there && !redis.IsString(held.value) && r.Script == batch.DelEx:
		reply = driver.Reply{Outcome: driver.Failed, Err: errWrongForCondition}
	case there && !redis.IsString(held.value):
		reply = driver.Reply{Outcome: driver.Failed, Err: errWrongType}
	case !there || held.value != c.Value:
	case r.Script == batch.SetIfEq:
		s.put(c.Keys[0], record{c.Value, now + c.TTL.Milliseconds(), held.set})
		reply.Outcome = driver.Accepted
	default:
		s.take(c.Keys[0])
		reply.Outcome = driver.Accepted
	}
	return answer{all: reply}
}
