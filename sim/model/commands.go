package model

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"redlocksim/sim"
)

// call runs one Redis command, of those that lock protocols use. Errors are sim.ServerError, as values.
func (s *store) call(args ...string) any {
	now := s.server.Clock().Wall().Milliseconds()
	name, args := strings.ToUpper(args[0]), args[1:]
	c, ok := commands[name]
	if !ok || len(args) < c.args {
		return sim.ServerError(fmt.Sprintf("ERR the model does not know the command %s with %d arguments", name, len(args)))
	}
	return c.run(s, now, args)
}

// command is a Redis command: how many arguments it needs, and what it does.
type command struct {
	args int
	run  func(s *store, now int64, args []string) any
}

const errNotInteger = sim.ServerError("ERR value is not an integer or out of range")

// ok is the status reply OK.
const ok = "OK"

var commands = map[string]command{
	"PING":  {0, func(*store, int64, []string) any { return "PONG" }},
	"GET":   {1, func(s *store, now int64, a []string) any { return s.text(a[0], now) }},
	"SET":   {2, (*store).set},
	"SETNX": {2, (*store).setnx},
	"DEL": {1, func(s *store, now int64, a []string) any {
		var n int64
		for _, key := range a {
			if _, there := s.get(key, now); there {
				s.remove(key, s.server.Now())
				n++
			}
		}
		return n
	}},
	"EXISTS": {1, func(s *store, now int64, a []string) any {
		var n int64
		for _, key := range a {
			if _, there := s.get(key, now); there {
				n++
			}
		}
		return n
	}},
	"EXPIRE":  {2, func(s *store, now int64, a []string) any { return s.expire(now, a, 1000) }},
	"PEXPIRE": {2, func(s *store, now int64, a []string) any { return s.expire(now, a, 1) }},
	"PTTL": {1, func(s *store, now int64, a []string) any {
		r, there := s.get(a[0], now)
		switch {
		case !there:
			return int64(-2)
		case r.expiresAt == 0:
			return int64(-1)
		}
		return r.expiresAt - now
	}},
	"INCR": {1, func(s *store, now int64, a []string) any {
		r, _ := s.get(a[0], now)
		n, err := strconv.ParseInt(cmp.Or(r.value, "0"), 10, 64)
		if err != nil {
			return errNotInteger
		}
		r.value = strconv.FormatInt(n+1, 10)
		s.keys[a[0]] = r
		return n + 1
	}},
	"HEXISTS": onHash(2, hexists),
	"HGET":    onHash(2, hget),
	"HSET":    onHash(3, hset),
	"HINCRBY": onHash(3, hincrby),
	"HDEL":    onHash(2, hdel),
	"RPUSH":   onList(2, rpush),
	"LPOP":    onList(1, lpop),
	"LINDEX":  onList(2, lindex),
	"LRANGE":  onList(3, lrange),
	"LREM":    onList(3, lrem),
	"ZADD":    onSortedSet(3, zadd),
	"ZINCRBY": onSortedSet(3, zincrby),
	"ZSCORE":  onSortedSet(2, zscore),
	"ZREM":    onSortedSet(2, zrem),
	"ZRANGE":  onSortedSet(3, zrange),
	"PUBLISH": {2, func(s *store, _ int64, a []string) any { return int64(s.server.Publish(a[0], a[1])) }},
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// text is a string key's value, nil if there is none.
func (s *store) text(key string, now int64) any {
	r, there := s.get(key, now)
	if !there {
		return nil
	}
	if !sim.IsString(r.value) {
		return errWrongType
	}
	return r.value
}

// set is SET key value [NX] [PX ms | EX s].
func (s *store) set(now int64, a []string) any {
	r := record{value: a[1]}
	for i := 2; i < len(a); i++ {
		switch option := strings.ToUpper(a[i]); {
		case option == "NX":
			if _, there := s.get(a[0], now); there {
				return nil
			}
		case (option == "PX" || option == "EX") && i+1 < len(a):
			unit := int64(1)
			if option == "EX" {
				unit = 1000
			}
			i++
			n, err := strconv.ParseInt(a[i], 10, 64)
			if err != nil || n <= 0 {
				return errNotInteger
			}
			r.expiresAt = now + n*unit
		default:
			return sim.ServerError("ERR syntax error")
		}
	}
	s.keys[a[0]] = r
	return ok
}

func (s *store) setnx(now int64, a []string) any {
	if _, there := s.get(a[0], now); there {
		return int64(0)
	}
	s.keys[a[0]] = record{value: a[1]}
	return int64(1)
}

func (s *store) expire(now int64, a []string, unit int64) any {
	r, there := s.get(a[0], now)
	n, err := strconv.ParseInt(a[1], 10, 64)
	if err != nil {
		return errNotInteger
	}
	if !there {
		return int64(0)
	}
	r.expiresAt = now + n*unit
	s.keys[a[0]] = r
	return int64(1)
}
