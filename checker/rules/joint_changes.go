package rules

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

var jointChangesRule = Rule{
	Name:  "joint-changes",
	Kind:  checker.Conduct,
	Needs: "a message that changed keys of a lock on several resources",
	Doc: `
A node sets, extends and deletes the keys of a lock on several resources together. (*redlock*, without replicas.)`,
	New: watchJointChanges,
}

// jointChanges watches that nodes set, extend and delete the keys of a lock on several resources together: it is one lock.
type jointChanges struct {
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

func watchJointChanges(r *watch) {
	if !r.isLibrary() || len(r.World.Replicas) > 0 {
		return
	}
	x := &jointChanges{watch: r, keys: map[string][]string{}}
	r.onStep(x.stepped, observe.AttemptStarted)
	r.onApplied(x.applied)
	r.onCommand(func(*redis.Asked) { x.judge() })
	r.onEnd = append(r.onEnd, x.judge)
}

func (j *jointChanges) stepped(_ string, e *observe.Event) {
	if !slices.Contains(j.Resources, e.Resource) {
		j.keys[e.Value] = resourcesOf(e.Resource)
	}
}

// applied takes a change. All that a message changes is told before the next message passes.
func (j *jointChanges) applied(a *redis.Applied) {
	value := a.After.Value
	if a.Removed() {
		value = a.Before.Value
	}
	if j.keys[value] == nil {
		return
	}
	i := slices.IndexFunc(j.open, func(t *together) bool { return t.first.Server == a.Server && t.value == value })
	if i < 0 {
		i = len(j.open)
		j.open = append(j.open, j.begins(a, value))
	}
	if delete(j.open[i].keys, a.Key); !a.Removed() {
		j.open[i].keys[a.Key] = a.After.ExpiresAt
	}
}

// begins notes what the other keys are at the first change: what the message does not change, they stay.
func (j *jointChanges) begins(a *redis.Applied, value string) *together {
	t := &together{*a, value, map[string]int64{}}
	for _, key := range j.keys[value] {
		if r, _, has := a.Server.Memory().Peek(key); has && r.Value == value {
			t.keys[key] = r.ExpiresAt
		}
	}
	return t
}

// judge compares the keys of each acquisition that the message before has changed.
func (j *jointChanges) judge() {
	for _, t := range j.open {
		j.judged++
		for _, key := range j.keys[t.value] {
			until, has := t.keys[key]
			if has == t.first.Removed() || has && until != t.keys[t.first.Key] {
				j.broken(key, "%s carries out what %s asks for about several keys for %q and not for %q", t.first.Server.Name(),
					t.first.Client.Name(), t.first.Key, key)
			}
		}
	}
	j.open = j.open[:0]
}
