package rules

import (
	"slices"

	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

// atomic watches that nodes set, extend and delete the keys of a lock on several resources together: it is one lock.
type atomic struct {
	*watch
	// keys are those of each acquisition of several, by its value.
	keys map[string][]string
	// open is what the message does that a node carries out at this step, one for each value.
	open []*together
}

// together is what a message does to the keys of an acquisition.
type together struct {
	first redis.Applied // of the changes
	value string
	keys  map[string]int64 // until when each has the value, after the changes; those that have it
}

func watchJoint(r *watch) {
	if !r.isLibrary() || len(r.World.Replicas) > 0 {
		return
	}
	x := &atomic{watch: r, keys: map[string][]string{}}
	r.onStep(x.stepped, observe.AttemptStarted)
	r.onApplied(x.applied)
	r.onCommand(func(*redis.Asked) { x.judge() })
	r.onEnd = append(r.onEnd, x.judge)
}

func (x *atomic) stepped(_ string, e *observe.Event) {
	if !slices.Contains(x.Resources, e.Resource) {
		x.keys[e.Value] = resourcesOf(e.Resource)
	}
}

// applied takes a change. All that a message changes is told before the next message passes.
func (x *atomic) applied(a *redis.Applied) {
	value := a.After.Value
	if a.Removed() {
		value = a.Before.Value
	}
	if x.keys[value] == nil {
		return
	}
	i := slices.IndexFunc(x.open, func(t *together) bool { return t.first.Server == a.Server && t.value == value })
	if i < 0 {
		i = len(x.open)
		x.open = append(x.open, x.begins(a, value))
	}
	if delete(x.open[i].keys, a.Key); !a.Removed() {
		x.open[i].keys[a.Key] = a.After.ExpiresAt
	}
}

// begins notes what the other keys are at the first change: what the message does not change, they stay.
func (x *atomic) begins(a *redis.Applied, value string) *together {
	t := &together{*a, value, map[string]int64{}}
	for _, key := range x.keys[value] {
		if r, _, has := a.Server.Observable().Peek(key); has && r.Value == value {
			t.keys[key] = r.ExpiresAt
		}
	}
	return t
}

// judge compares the keys of each acquisition that the message before has changed.
func (x *atomic) judge() {
	for _, t := range x.open {
		x.judged++
		for _, key := range x.keys[t.value] {
			until, has := t.keys[key]
			if has == t.first.Removed() || has && until != t.keys[t.first.Key] {
				x.broken(key, "%s carries out what %s asks for about several keys for %q and not for %q", t.first.Server.Name(),
					t.first.Client.Name(), t.first.Key, key)
			}
		}
	}
	x.open = x.open[:0]
}
