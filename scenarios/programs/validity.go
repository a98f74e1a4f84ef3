package programs

import (
	"time"

	"redlocksim/internal/lockkeys"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// taken is what a client has set on the nodes: what the validity of its leases is reckoned from where the program does not say
// it.
type taken struct {
	client *protocols.Simulated
	// patterns are those of the keys of locks; see scenarios.Foreign.
	patterns []string
	read     map[kernel.True]time.Time // what the client's clock read at the true time at which a request left
	keys     map[nodeKey]written
}

type nodeKey struct {
	server *redis.Server
	key    string
}

// written is the last that the client has written to a key.
type written struct {
	value string
	read  time.Time // when the request left, by the client's clock
}

func watchTaken(client *protocols.Simulated, patterns []string) *taken {
	t := &taken{client: client, patterns: patterns, read: map[kernel.True]time.Time{}, keys: map[nodeKey]written{}}
	trace.On(client.World.Events, func(a *redis.Asked) {
		if a.At == redis.Sent && a.Client == client.Process && (a.Intent == redis.Sets || a.Intent == redis.Extends) {
			t.read[a.Sent] = client.LockClock().Now()
		}
	})
	trace.On(client.World.Events, func(a *redis.Applied) {
		if a.Client == client.Process && !a.Removed() {
			t.keys[nodeKey{a.Server, a.Key}] = written{a.After.Value, t.read[a.Sent]}
		}
	})
	return t
}

// since is when the first of the requests left that gave the client what it has of a resource, by its clock: with the value
// that most nodes have. It is false if the client has nothing.
func (t *taken) since(resource string) (first time.Time, has bool) {
	counts, firsts := map[string]int{}, map[string]time.Time{}
	most := 0
	for _, s := range t.client.World.Servers { // in their order, so that nothing depends on a map's
		for _, key := range t.of(s, resource) {
			w := t.keys[nodeKey{s, key}]
			if r, _, there := s.Memory().Peek(key); !there || r.Value != w.value || w.read.IsZero() {
				continue
			}
			if f, known := firsts[w.value]; !known || w.read.Before(f) {
				firsts[w.value] = w.read
			}
			if counts[w.value]++; counts[w.value] > most {
				most, first, has = counts[w.value], firsts[w.value], true
			}
		}
	}
	return first, has
}

// of are the keys on a node that stand for a resource.
func (t *taken) of(s *redis.Server, resource string) (keys []string) {
	of := lockkeys.Of(t.patterns, []string{resource})
	for _, r := range s.Dump() {
		if _, is := of.Of(r.Key); is {
			keys = append(keys, r.Key)
		}
	}
	return keys
}
