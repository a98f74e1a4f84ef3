package model

import (
	"cmp"
	"slices"
	"strconv"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/votes"
	"redlocksim/sim/redis"
)

const errWrongType = votes.ErrWrongType

// collection reads a key that is not a string; one that does not exist is empty.
func collection[C any](s *store, key string, now int64, parse func(string) (C, bool)) (c C, err error) {
	r, there := s.get(key, now)
	if !there {
		return c, nil
	}
	c, ok := parse(r.value)
	if !ok {
		return c, errWrongType
	}
	return c, nil
}

// keep stores a collection and keeps the key's TTL. An empty collection removes the key.
func (s *store) keep(key string, now int64, size int, value string) {
	if size == 0 {
		s.take(key)
		return
	}
	r, _ := s.get(key, now)
	r.value = value
	s.put(key, r)
}

// onHash, onSortedSet and onList make a command of a function on the collection that the first argument names. do is given the
// other arguments, and returns the reply and whether it changed the collection.

func onHash(args int, do func(h map[string]string, a []string) (any, bool)) command {
	return command{args, false, func(s *store, now int64, a []string) any {
		h, err := collection(s, a[0], now, redis.ParseHash)
		if err != nil {
			return err
		}
		if h == nil {
			h = map[string]string{}
		}
		reply, changed := do(h, a[1:])
		if changed {
			s.keep(a[0], now, len(h), redis.HashValue(h))
		}
		return reply
	}}
}

func onSortedSet(args int, do func(z map[string]float64, a []string) (any, bool)) command {
	return command{args, false, func(s *store, now int64, a []string) any {
		z, err := collection(s, a[0], now, redis.ParseSortedSet)
		if err != nil {
			return err
		}
		if z == nil {
			z = map[string]float64{}
		}
		reply, changed := do(z, a[1:])
		if changed {
			s.keep(a[0], now, len(z), redis.SortedSetValue(z))
		}
		return reply
	}}
}

func onList(args int, do func(l *[]string, a []string) (any, bool)) command {
	return command{args, false, func(s *store, now int64, a []string) any {
		l, err := collection(s, a[0], now, redis.ParseList)
		if err != nil {
			return err
		}
		reply, changed := do(&l, a[1:])
		if changed {
			s.keep(a[0], now, len(l), redis.ListValue(l))
		}
		return reply
	}}
}

// variadic lets a command take more arguments.
func variadic(c command) command {
	c.more = true
	return c
}

// numbered makes a command refuse arguments that are not numbers before it looks at the key, as Redis does.
func numbered(c command, check func(string) error, arguments ...int) command {
	run := c.run
	c.run = func(s *store, now int64, a []string) any {
		for _, i := range arguments {
			if err := check(a[i]); err != nil {
				return err
			}
		}
		return run(s, now, a)
	}
	return c
}

func hexists(h map[string]string, a []string) (any, bool) {
	_, there := h[a[0]]
	return flag(there), false
}

func hget(h map[string]string, a []string) (any, bool) {
	if v, there := h[a[0]]; there {
		return v, false
	}
	return nil, false
}

func hset(h map[string]string, a []string) (any, bool) {
	_, there := h[a[0]]
	h[a[0]] = a[1]
	return flag(!there), true
}

func hincrby(h map[string]string, a []string) (any, bool) {
	text, there := h[a[0]]
	if !there {
		text = "0"
	}
	by, _ := integer(a[1])
	n, err := increased(text, by)
	if err != nil {
		return err, false
	}
	h[a[0]] = strconv.FormatInt(n, 10)
	return n, true
}

func hdel(h map[string]string, a []string) (any, bool) {
	_, there := h[a[0]]
	delete(h, a[0])
	return flag(there), true
}

func rpush(l *[]string, a []string) (any, bool) {
	*l = append(*l, a...)
	return int64(len(*l)), true
}

func lpop(l *[]string, _ []string) (any, bool) {
	if len(*l) == 0 {
		return nil, false
	}
	head := (*l)[0]
	*l = (*l)[1:]
	return head, true
}

func lindex(l *[]string, a []string) (any, bool) {
	if len(*l) == 0 { // Redis reads the index only if there is a list
		return nil, false
	}
	i, err := integer(a[0])
	if err != nil {
		return err, false
	}
	if i < 0 {
		i += int64(len(*l))
	}
	if i < 0 || i >= int64(len(*l)) {
		return nil, false
	}
	return (*l)[i], false
}

func lrange(l *[]string, a []string) (any, bool) { return between(*l, a), false }

// lrem is LREM key 0 element: all occurrences.
func lrem(l *[]string, a []string) (any, bool) {
	if a[0] != "0" {
		return rediscmd.ServerError("ERR the model knows LREM with count 0 only"), false
	}
	before := len(*l)
	*l = slices.DeleteFunc(*l, func(item string) bool { return item == a[1] })
	return int64(before - len(*l)), true
}

// between is the part of a list from one index to another, which count from the end if they are negative.
func between(items []string, a []string) any {
	from, _ := integer(a[0])
	to, _ := integer(a[1])
	size := int64(len(items))
	if from < 0 {
		from += size
	}
	if to < 0 {
		to += size
	}
	part := []any{}
	for i := max(from, 0); i <= to && i < size; i++ {
		part = append(part, items[i])
	}
	return part
}

// score is a score as Redis replies it.
func score(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func zadd(z map[string]float64, a []string) (any, bool) {
	f, _ := strconv.ParseFloat(a[0], 64)
	_, there := z[a[1]]
	z[a[1]] = f
	return flag(!there), true
}

func zincrby(z map[string]float64, a []string) (any, bool) {
	f, _ := strconv.ParseFloat(a[0], 64)
	z[a[1]] += f
	return score(z[a[1]]), true
}

func zscore(z map[string]float64, a []string) (any, bool) {
	if f, there := z[a[0]]; there {
		return score(f), false
	}
	return nil, false
}

func zrem(z map[string]float64, a []string) (any, bool) {
	_, there := z[a[0]]
	delete(z, a[0])
	return flag(there), true
}

func zrange(z map[string]float64, a []string) (any, bool) {
	members := make([]string, 0, len(z))
	for m := range z {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b string) int { return cmp.Or(cmp.Compare(z[a], z[b]), cmp.Compare(a, b)) })
	return between(members, a), false
}
