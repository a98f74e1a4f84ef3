package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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
				delete(s.keys, key)
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
	"HEXISTS": {2, func(s *store, now int64, a []string) any {
		_, there := s.hash(a[0], now)[a[1]]
		return flag(there)
	}},
	"HGET": {2, func(s *store, now int64, a []string) any {
		if v, there := s.hash(a[0], now)[a[1]]; there {
			return v
		}
		return nil
	}},
	"HINCRBY": {3, func(s *store, now int64, a []string) any {
		h := s.hash(a[0], now)
		n, err := strconv.ParseInt(cmp.Or(h[a[1]], "0"), 10, 64)
		by, err2 := strconv.ParseInt(a[2], 10, 64)
		if err != nil || err2 != nil {
			return errNotInteger
		}
		h[a[1]] = strconv.FormatInt(n+by, 10)
		s.setHash(a[0], now, h)
		return n + by
	}},
	"HDEL": {2, func(s *store, now int64, a []string) any {
		h := s.hash(a[0], now)
		_, there := h[a[1]]
		delete(h, a[1])
		s.setHash(a[0], now, h)
		return flag(there)
	}},
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
	if strings.HasPrefix(r.value, hashMark) {
		return sim.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")
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

// hashMark begins the value of a hash, which is kept as a list of its fields and values in order of the fields.
const hashMark = "\x00hash"

func (s *store) hash(key string, now int64) map[string]string {
	h := map[string]string{}
	if r, there := s.get(key, now); there && strings.HasPrefix(r.value, hashMark) {
		var pairs [][2]string
		if err := json.Unmarshal([]byte(r.value[len(hashMark):]), &pairs); err != nil {
			panic(fmt.Sprintf("model: hash %q: %v", key, err))
		}
		for _, p := range pairs {
			h[p[0]] = p[1]
		}
	}
	return h
}

// setHash keeps the key's TTL; a hash without fields is no key.
func (s *store) setHash(key string, now int64, h map[string]string) {
	if len(h) == 0 {
		delete(s.keys, key)
		return
	}
	var pairs [][2]string
	for field, value := range h {
		pairs = append(pairs, [2]string{field, value})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	text, err := json.Marshal(pairs)
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	r, _ := s.get(key, now)
	r.value = hashMark + string(text)
	s.keys[key] = r
}
