package monitor

import (
	"errors"
	"testing"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// otherRig is a rig of another lock than the library's, that a single monitor watches.
func otherRig[T any](t *testing.T, change func(*T), watch func(*Run)) *rig {
	r := newRig(t)
	lock := r.Lock.With("redlock-plain")
	protocols.Change(&lock, change)
	run := &Run{World: r.World, Lock: lock, Resources: r.Resources}
	run.watch(watch)
	return &rig{r.World, run}
}

// tells records a step of the acquire 1.
func (a *actor) tells(name, node, detail string, attempt int) {
	a.Record(history.Event{Kind: history.Step, Process: a.client.Name(), Name: name, Op: 1, Resource: "r", Node: node, Number: int64(attempt), Detail: detail})
}

func TestStepsOfOthersAreTrue(t *testing.T) {
	answered := observe.NodeAnswered.String()
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"granted", func(a *actor) { a.sets("A", "v"); a.tells(answered, "A", "granted", 0) }, ""},
		{"granted without a key", func(a *actor) {
			a.sets("A", "w")
			a.tells(answered, "A", "granted", 0)
			a.sets("A", "v")
			a.tells(answered, "A", "granted", 0)
		},
			`c1 has set no key on A, and reports "granted"`},
		{"declined", func(a *actor) {
			a.sets("A", "w")
			a.tells(answered, "A", "granted", 0)
			a.sets("A", "v")
			a.tells(answered, "A", "held by another", 0)
		}, ""},
		{"a key that is not told", func(a *actor) { a.sets("A", "v"); a.tells(answered, "A", "failed", 0) }, `c1 has set its key on A and heard so in time, and reports "failed"`},
		{"one of two commands", func(a *actor) { a.sets("A", "v"); a.sets("A", "w"); a.tells(answered, "A", "held by another", 0) }, ""},
		{"an answer to a look", func(a *actor) { a.asks("A", "GET", "r"); a.tells(answered, "A", "held by another", 0) }, ""},
		{"a sentence", func(a *actor) { a.tells(protocols.CleanedUp, "", "deletes its own keys again", 0) }, ""},
		{"a sentence without words", func(a *actor) { a.tells(protocols.CleanedUp, "", "", 0) }, "c1 reports cleaned-up, and does not say what it does"},
		{"taken", func(a *actor) {
			a.tells(answered, "A", "held by another", 0)
			a.call(protocols.AcquireCall, nil, redlock.ErrTaken, nil)
		}, ""},
		{"taken, and no node said so", func(a *actor) {
			a.tells(answered, "A", "timed out", 0)
			a.call(protocols.AcquireCall, nil, redlock.ErrTaken, nil)
		},
			"c1 is told that the lock is taken, and no node has said so"},
		{"no quorum, and all nodes declined", func(a *actor) {
			a.tells(answered, "A", "held by another", 0)
			a.call(protocols.AcquireCall, nil, redlock.ErrNoQuorum, nil)
		}, "c1 is told that it has no quorum, and all 1 nodes said that the lock is taken"},
		{"no quorum", func(a *actor) {
			a.tells(answered, "A", "timed out", 0)
			a.call(protocols.AcquireCall, nil, redlock.ErrNoQuorum, nil)
		}, ""},
		{"an error of another kind", func(a *actor) {
			a.tells(answered, "A", "timed out", 0)
			a.call(protocols.AcquireCall, nil, errors.New("broken"), nil)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := otherRig(t, func(*protocols.RetrySettings) {}, watchTold)
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}
