package rules

import (
	"slices"

	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// stakes are what clients have done with the keys that stand for somebody's lock.
type stakes struct {
	*Run
	votes []*stake
	// asked is when something was sent last that may delete a key; one that names no value is kept under none.
	asked map[askedOn]kernel.True
	// set is when a client last sent a command that sets a key, whatever became of it.
	set map[askedOn]kernel.True
}

// stake is what a client has done with a key and a value on a node.
type stake struct {
	vote
	resource string
	server   *redis.Server
	client   *kernel.Process
	cast     kernel.True // when the command was sent that set it
	set      kernel.True // when that was carried out
	until    kernel.True // when the key runs out, as of when its deadline was set
	lasts    kernel.True // when that was
}

// askedOn is a key with a value on a node, of a client that asks the node to set or to remove it.
type askedOn struct {
	vote
	reaching
}

func watchStakes(r *Run) *stakes {
	x := &stakes{Run: r, asked: map[askedOn]kernel.True{}, set: map[askedOn]kernel.True{}}
	r.onApplied(x.applied)
	r.onCommand(x.asks)
	r.onVague(x.asks)
	return x
}

func (x *stakes) applied(a *redis.Applied) {
	resource, is := x.World.LockOf(a.Key)
	if !is || a.Removed() {
		return
	}
	v := vote{a.Key, a.After.Value}
	s := x.stakeOf(v, a.Server)
	if s == nil {
		s = &stake{vote: v, resource: resource, server: a.Server}
		x.votes = append(x.votes, s)
	}
	if a.Set() || a.After.Value != a.Before.Value {
		s.client, s.cast, s.set = a.Client, a.Sent, x.World.Kernel.Now()
	}
	s.until, s.lasts = a.Server.RunsOut(a.After.ExpiresAt), x.World.Kernel.Now()
}

func (x *stakes) asks(_ redis.Passage, a *redis.Asked) {
	by := reaching{a.Client, a.Server}
	for _, key := range a.Keys {
		if _, is := x.World.LockOf(key); !is || a.Intent == redis.Extends {
			continue
		}
		if a.Intent == redis.Sets {
			x.set[askedOn{vote{key, a.Value}, by}] = a.Sent
			continue
		}
		for _, value := range a.More {
			x.asked[askedOn{vote{key, value}, by}] = a.Sent
		}
		if a.Value != "" || a.Intent == redis.Deletes && len(a.More) == 0 {
			x.asked[askedOn{vote{key, a.Value}, by}] = a.Sent
		}
	}
}

// quorum is how many keys with one value a holder needs of a resource, over all nodes.
func (x *stakes) quorum(resource string) int {
	var keys []string
	for _, s := range x.votes {
		if s.resource == resource && !slices.Contains(keys, s.key) {
			keys = append(keys, s.key)
		}
	}
	nodes := len(x.World.Servers)
	if x.OneNode {
		nodes = 1
	}
	return nodes*len(keys)/2 + 1
}

// most are the keys of a resource that a client has under one value and of which something is so: as many as there are under
// any.
func (x *stakes) most(client, resource string, is func(*stake) bool) (all []stake) {
	of := map[string][]stake{}
	for _, s := range x.votes {
		if s.client.Name() != client || s.resource != resource || !is(s) {
			continue
		}
		of[s.value] = append(of[s.value], *s)
		if len(of[s.value]) > len(all) {
			all = of[s.value]
		}
	}
	return all
}

// stakeOf is what a client has done with a key and a value on a node; nil if nothing.
func (x *stakes) stakeOf(v vote, on *redis.Server) *stake {
	if i := slices.IndexFunc(x.votes, func(s *stake) bool { return s.vote == v && s.server == on }); i >= 0 {
		return x.votes[i]
	}
	return nil
}

// isAsked says that something was sent since the command that set the key that may delete it.
func (x *stakes) isAsked(s *stake) bool {
	for _, value := range []string{s.value, ""} { // a DEL names none
		if at, is := x.asked[askedOn{vote{s.key, value}, reaching{s.client, s.server}}]; is && at >= s.cast {
			return true
		}
	}
	return false
}

// stands says whether the key is still there with the value.
func (s *stake) stands(now kernel.True) bool {
	r, _, there := s.server.Observable().Peek(s.key)
	return there && r.Value == s.value && s.server.Up() && s.server.RunsOut(r.ExpiresAt) > now
}
