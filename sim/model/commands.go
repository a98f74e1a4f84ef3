package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/redis"
)

// call runs one Redis command, of those that lock protocols use. Replies are as package script has them.
func (s *store) call(args []string) any {
	now := s.server.Clock().Wall().Milliseconds()
	name, args := strings.ToUpper(args[0]), args[1:]
	if why := s.server.Refuses(name, args, false); why != "" {
		return rediscmd.ServerError(why)
	}
	c, ok := commands[name]
	if !ok || len(args) < c.args || len(args) > c.args && !c.more {
		return rediscmd.ServerError(fmt.Sprintf("ERR the model does not know the command %s with %d arguments", name, len(args)))
	}
	return c.run(s, now, args)
}

// command is a Redis command: how many arguments it takes, or takes at least, and what it does.
type command struct {
	args int
	more bool
	run  func(s *store, now int64, args []string) any
}

const (
	errExpireTime = rediscmd.ServerError("ERR invalid expire time")
	errSyntax     = rediscmd.ServerError("ERR syntax error")
)

// deadline is n units of milliseconds from now.
func deadline(now, n, unit int64) (int64, error) {
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-now {
		return 0, errExpireTime
	}
	return now + n*unit, nil
}

// ok is the status reply OK.
const ok = rediscmd.Status("OK")

var commands = map[string]command{
	"PING":  {0, false, func(*store, int64, []string) any { return rediscmd.Status("PONG") }},
	"GET":   {1, false, func(s *store, now int64, a []string) any { return s.text(a[0], now) }},
	"SET":   {2, true, (*store).set},
	"SETNX": {2, false, (*store).setnx},
	"DEL": {1, true, func(s *store, now int64, a []string) any {
		var n int64
		for _, key := range a {
			if _, there := s.get(key, now); there {
				s.take(key)
				n++
			}
		}
		return n
	}},
	"DELIFEQ": {2, false, func(s *store, now int64, a []string) any { return s.deleteIf(now, a[0], a[1], errWrongType) }},
	"DELEX": {3, false, func(s *store, now int64, a []string) any {
		if !strings.EqualFold(a[1], "IFEQ") {
			return rediscmd.ServerError("ERR the model knows DELEX with IFEQ alone")
		}
		return s.deleteIf(now, a[0], a[2], errWrongForCondition)
	}},
	"EXISTS": {1, true, func(s *store, now int64, a []string) any {
		var n int64
		for _, key := range a {
			if _, there := s.get(key, now); there {
				n++
			}
		}
		return n
	}},
	"EXPIRE":  {2, false, func(s *store, now int64, a []string) any { return s.expire(now, a, 1000) }},
	"PEXPIRE": {2, false, func(s *store, now int64, a []string) any { return s.expire(now, a, 1) }},
	"PTTL": {1, false, func(s *store, now int64, a []string) any {
		r, there := s.get(a[0], now)
		switch {
		case !there:
			return int64(-2)
		case r.ExpiresAt == 0:
			return int64(-1)
		}
		return r.ExpiresAt - now
	}},
	"INCR": {1, false, func(s *store, now int64, a []string) any {
		r, there := s.get(a[0], now)
		if !there {
			r = redis.Record{Key: a[0], Value: "0"}
		}
		if !redis.IsString(r.Value) {
			return errWrongType
		}
		n, err := increased(r.Value, 1)
		if err != nil {
			return err
		}
		r.Value = strconv.FormatInt(n, 10)
		s.put(r)
		return n
	}},
	"HEXISTS": hashes.command(2, hexists),
	"HGET":    hashes.command(2, hget),
	"HSET":    hashes.command(3, hset),
	"HINCRBY": numbered(hashes.command(3, hincrby), isInteger, 2),
	"HDEL":    hashes.command(2, hdel),
	"RPUSH":   variadic(lists.command(2, rpush)),
	"LPOP":    lists.command(1, lpop),
	"LINDEX":  lists.command(2, lindex),
	"LRANGE":  numbered(lists.command(3, lrange), isInteger, 1, 2),
	"LREM":    numbered(lists.command(3, lrem), isInteger, 1),
	"ZADD":    numbered(sortedSets.command(3, zadd), isScore, 1),
	"ZINCRBY": numbered(sortedSets.command(3, zincrby), isScore, 1),
	"ZSCORE":  sortedSets.command(2, zscore),
	"ZREM":    sortedSets.command(2, zrem),
	"ZRANGE":  numbered(sortedSets.command(3, zrange), isInteger, 1, 2),
	"PUBLISH": {2, false, func(s *store, _ int64, a []string) any { return int64(s.server.Publish(a[0], a[1])) }},
}

// Commands are the names of the commands that the model knows, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(commands)) }

// text is a string key's value, nil if there is none.
func (s *store) text(key string, now int64) any {
	r, there := s.get(key, now)
	if !there {
		return nil
	}
	if !redis.IsString(r.Value) {
		return errWrongType
	}
	return r.Value
}

// deleteIf deletes a key that has a value; wrong is what is said of one that is no string.
func (s *store) deleteIf(now int64, key, value string, wrong rediscmd.ServerError) any {
	r, there := s.get(key, now)
	switch {
	case there && !redis.IsString(r.Value):
		return wrong
	case !there || r.Value != value:
		return int64(0)
	}
	s.take(key)
	return int64(1)
}

// set is SET key value [NX | IFEQ value] [PX ms | EX s].
func (s *store) set(now int64, a []string) any {
	r := redis.Record{Key: a[0], Value: a[1]}
	onlyNew, unit := false, "" // Redis takes the same option again, and the last counts
	var only *string           // the value that the key must have
	for i := 2; i < len(a); i++ {
		switch option := strings.ToUpper(a[i]); {
		case option == "NX" && only == nil:
			onlyNew = true
		case option == "IFEQ" && i+1 < len(a) && !onlyNew && only == nil:
			i++
			only = &a[i]
		case (option == "PX" || option == "EX") && i+1 < len(a) && (unit == "" || unit == option):
			unit = option
			milliseconds := int64(1)
			if option == "EX" {
				milliseconds = 1000
			}
			i++
			n, err := integer(a[i])
			if err != nil {
				return err
			}
			if n <= 0 {
				return errExpireTime
			}
			if r.ExpiresAt, err = deadline(now, n, milliseconds); err != nil {
				return err
			}
		default:
			return errSyntax
		}
	}
	switch held, there := s.get(a[0], now); {
	case only != nil && there && !redis.IsString(held.Value):
		return errWrongType
	case there && onlyNew, only != nil && (!there || held.Value != *only):
		return nil
	}
	s.put(r)
	return ok
}

func (s *store) setnx(now int64, a []string) any {
	if _, there := s.get(a[0], now); there {
		return int64(0)
	}
	s.put(redis.Record{Key: a[0], Value: a[1]})
	return int64(1)
}

// expire is EXPIRE and PEXPIRE. A key whose deadline is not in the future is deleted at once.
func (s *store) expire(now int64, a []string, unit int64) any {
	n, err := integer(a[1])
	if err != nil {
		return err
	}
	at, err := deadline(now, n, unit)
	if err != nil {
		return err
	}
	r, there := s.get(a[0], now)
	if !there {
		return int64(0)
	}
	if r.ExpiresAt = at; at <= now {
		s.take(a[0])
	} else {
		s.put(r)
	}
	return int64(1)
}
