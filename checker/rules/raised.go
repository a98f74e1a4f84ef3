package rules

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// raised remembers the fencing counters as votes have left them. A node with one that is ahead of that, as an operator may set
// it, may have no vote: clients follow a counter only if others bear it out. Nor may one that votes have raised since, as long
// as another node is far behind.
type raised struct {
	servers  []*redis.Server
	counters []string // their names; none without fencing
	counted  map[counterOf]string
}

// counterOf is a fencing counter of a node.
type counterOf struct {
	server *redis.Server
	key    string
}

func watchRaised(r *Run) *raised {
	x := &raised{servers: r.World.Servers, counted: map[counterOf]string{}}
	if !isFenced(r) {
		return x
	}
	for _, name := range r.Resources {
		x.counters = append(x.counters, driver.TokenKey(name))
	}
	r.onApplied(func(c *redis.Applied) {
		if x.isCounter(c.Key) {
			x.counted[counterOf{c.Server, c.Key}] = c.After.Value
		}
	})
	return x
}

// isCounter says whether a key is a fencing counter.
func (x *raised) isCounter(key string) bool { return slices.Contains(x.counters, key) }

// isAhead says whether a node has a counter that no vote has raised so far, that another node may not bear out, or above which
// there is no token.
func (x *raised) isAhead(s *redis.Server) bool {
	return slices.ContainsFunc(x.counters, func(key string) bool {
		n := counterOn(s, key)
		isAlone := n > farCounters && slices.ContainsFunc(x.servers, func(o *redis.Server) bool { return n-counterOn(o, key) > farCounters })
		return n > number(x.counted[counterOf{s, key}]) || n >= largestToken || isAlone
	})
}

// counterOn is what a node's fencing counter is; 0 if it has none.
func counterOn(s *redis.Server, key string) int64 {
	r, _, _ := s.Observable().Peek(key)
	return number(r.Value)
}
