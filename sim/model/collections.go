package model

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/votes"
	"redlocksim/sim/redis"
)

const errWrongType = votes.ErrWrongType

type (
	hash      = map[string]string
	list      = []string
	sortedSet = map[string]float64
)

// collections are the keys of a type that is no string, with how a record's value is read and written.
type collections[C hash | list | sortedSet] struct {
	parse func(value string) (C, bool)
	value func(C) string
}

var (
	hashes     = collections[hash]{redis.ParseHash, redis.HashValue}
	lists      = collections[list]{redis.ParseList, redis.ListValue}
	sortedSets = collections[sortedSet]{redis.ParseSortedSet, redis.SortedSetValue}
)

// command makes a command of a function on the collection that the first argument names, which is empty if there is no such
// key. do is given the other arguments, and returns the reply and what the collection is then; nil if it is the same. An empty
// one removes the key.
func (k collections[C]) command(args int, do func(c C, a []string) (reply any, then C)) command {
	return command{args, false, func(s *store, now int64, a []string) any {
		r, there := s.get(a[0], now)
		if !there {
			r = redis.Record{Key: a[0], Value: k.value(*new(C))}
		}
		c, is := k.parse(r.Value)
		if !is {
			return errWrongType
		}
		reply, then := do(c, a[1:])
		switch {
		case then == nil:
		case len(then) == 0:
			s.take(a[0])
		default:
			r.Value = k.value(then)
			s.put(r)
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

func hexists(h hash, a []string) (any, hash) {
	_, there := h[a[0]]
	return flag(there), nil
}

func hget(h hash, a []string) (any, hash) {
	if v, there := h[a[0]]; there {
		return v, nil
	}
	return nil, nil
}

func hset(h hash, a []string) (any, hash) {
	_, there := h[a[0]]
	h[a[0]] = a[1]
	return flag(!there), h
}

func hincrby(h hash, a []string) (any, hash) {
	text, there := h[a[0]]
	if !there {
		text = "0"
	}
	by, _ := integer(a[1])
	n, err := increased(text, by)
	if err != nil {
		return err, nil
	}
	h[a[0]] = strconv.FormatInt(n, 10)
	return n, h
}

func hdel(h hash, a []string) (any, hash) {
	if _, there := h[a[0]]; !there {
		return flag(false), nil
	}
	delete(h, a[0])
	return flag(true), h
}

func rpush(l list, a []string) (any, list) { return int64(len(l) + len(a)), append(l, a...) }

func lpop(l list, _ []string) (any, list) {
	if len(l) == 0 {
		return nil, nil
	}
	return l[0], l[1:]
}

func lindex(l list, a []string) (any, list) {
	if len(l) == 0 { // Redis reads the index only if there is a list
		return nil, nil
	}
	i, err := integer(a[0])
	if err != nil {
		return err, nil
	}
	if i < 0 {
		i += int64(len(l))
	}
	if i < 0 || i >= int64(len(l)) {
		return nil, nil
	}
	return l[i], nil
}

func lrange(l list, a []string) (any, list) { return between(l, a), nil }

// lrem is LREM key 0 element: all occurrences.
func lrem(l list, a []string) (any, list) {
	if a[0] != "0" {
		return rediscmd.ServerError("ERR the model knows LREM with count 0 only"), nil
	}
	before := len(l)
	l = slices.DeleteFunc(l, func(item string) bool { return item == a[1] })
	if len(l) == before {
		return int64(0), nil
	}
	return int64(before - len(l)), l
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

func zadd(z sortedSet, a []string) (any, sortedSet) {
	f, _ := strconv.ParseFloat(a[0], 64)
	_, there := z[a[1]]
	z[a[1]] = f
	return flag(!there), z
}

func zincrby(z sortedSet, a []string) (any, sortedSet) {
	f, _ := strconv.ParseFloat(a[0], 64)
	z[a[1]] += f
	return score(z[a[1]]), z
}

func zscore(z sortedSet, a []string) (any, sortedSet) {
	if f, there := z[a[0]]; there {
		return score(f), nil
	}
	return nil, nil
}

func zrem(z sortedSet, a []string) (any, sortedSet) {
	if _, there := z[a[0]]; !there {
		return flag(false), nil
	}
	delete(z, a[0])
	return flag(true), z
}

func zrange(z sortedSet, a []string) (any, sortedSet) {
	members := slices.SortedFunc(maps.Keys(z), func(a, b string) int { return cmp.Or(cmp.Compare(z[a], z[b]), cmp.Compare(a, b)) })
	return between(members, a), nil
}
