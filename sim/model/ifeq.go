package model

import (
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// firstContact is what the adapter's first contact finds out about a server, by needs.lua, if the script for a request looks:
// the plain commands for releases, as in batch.Known.Learn.
func (s *store) firstContact(r *batch.Request, now int64) (found int64) {
	isFree := func(key string) bool { return s.isFree(key, now) }
	for i := range r.Len() {
		if slices.ContainsFunc(r.Command(i).Keys, isFree) { // otherwise nothing is tried
			found = s.plainCommands()
		}
	}
	return found
}

// isFree reports whether there is no such key, or one that has expired.
func (s *store) isFree(key string, now int64) bool {
	r, there := s.keys[key]
	return !there || r.ExpiresAt != 0 && now > r.ExpiresAt
}

// plainCommands are those that the server has and allows, as in batch.Known.Learn.
func (s *store) plainCommands() (found int64) {
	for i, command := range [...]string{"DELIFEQ", "DELEX"} {
		if s.server.Refuses(command, nil, false) == "" {
			found |= 1 << i
		}
	}
	return found
}

// names are the plain commands as requests have them.
var names = map[batch.Script]string{batch.None: "SET", batch.DelIfEq: "DELIFEQ", batch.DelEx: "DELEX"}

// errWrongForCondition is what DELEX answers about a key that is not a string.
const errWrongForCondition = rediscmd.ServerError("ERR Key should be of string type if conditions are specified")

// plain carries out a request that is DELIFEQ, or DELEX with IFEQ.
func (s *store) plain(r *batch.Request, now int64) answer {
	if s.server.Refuses(names[r.Script], nil, false) != "" {
		return answer{fate: batch.Missed}
	}
	wrong := errWrongType
	if r.Script == batch.DelEx {
		wrong = errWrongForCondition
	}
	reply := driver.Reply{Outcome: driver.Declined}
	switch deleted := s.deleteIf(now, r.First.Keys[0], r.First.Value, wrong).(type) {
	case rediscmd.ServerError:
		reply = driver.Reply{Outcome: driver.Failed, Err: deleted}
	case int64:
		if deleted == 1 {
			reply.Outcome = driver.Accepted
		}
	}
	return answer{all: reply}
}
