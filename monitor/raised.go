package monitor

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// raised remembers the fencing counters as votes have left them. A node with one that is ahead of that, as an operator may set
// it, may have no vote: clients follow a counter only if others bear it out.
type raised struct {
	counters []string // their names; none without fencing
	counted  map[counterOf]string
}

// counterOf is a fencing counter of a node.
type counterOf struct {
	server *redis.Server
	key    string
}

func watchRaised(r *Run) *raised {
	x := &raised{counted: map[counterOf]string{}}
	if !isFenced(r) {
		return x
	}
	for _, name := range r.Resources {
		x.counters = append(x.counters, driver.TokenKey(name))
	}
	r.onApplied = append(r.onApplied, func(c *redis.Applied) {
		if x.isCounter(c.Key) {
			x.counted[counterOf{c.Server, c.Key}] = c.After.Value
		}
	})
	return x
}

// isCounter says whether a key is a fencing counter.
func (x *raised) isCounter(key string) bool { return slices.Contains(x.counters, key) }

// isAhead says whether a node has a counter that no vote has raised so far, or above which there is no token.
func (x *raised) isAhead(s *redis.Server) bool {
	return slices.ContainsFunc(x.counters, func(key string) bool {
		r, _, there := s.Observable().Peek(key)
		return there && (number(r.Value) > number(x.counted[counterOf{s, key}]) || number(r.Value) >= largestToken)
	})
}
