package monitor

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// announced watches that with the wake-up a holder's release publishes each key on every node that it removes it from, with the
// same request, and that nothing else is published: clients that are refused would go on waking each other.
type announced struct {
	run   *Run
	wakes bool
	// fates is, by value, what became of it.
	fates map[string]*fate
	last  map[*redis.Server]*releases
}

// fate says whether a value's lease is being released, and from which nodes a late vote for it is taken back, which may be
// published or not.
type fate struct {
	released  bool
	takenBack []string
}

// releases are the keys that the last request to a node removed, and those that it published as released.
type releases struct {
	client    string
	removed   []vote
	published []string
}

func watchAnnounced(r *Run) {
	if !r.isLibrary() {
		return
	}
	a := &announced{run: r, wakes: protocols.Of[protocols.RedlockSettings](r.Lock).WakeUp > 0, fates: map[string]*fate{}, last: map[*redis.Server]*releases{}}
	for _, s := range r.World.Servers {
		a.last[s] = &releases{}
	}
	r.onPublished = append(r.onPublished, a.published)
	r.onCommand(a.passes, redis.Arrived)
	r.onEnd = append(r.onEnd, func() {
		for _, s := range r.World.Servers {
			a.isOver(s)
		}
	})
	if a.wakes {
		r.onStep(a.stepped, observe.ReleaseStarted, observe.TakenBack)
		r.onApplied = append(r.onApplied, a.applied)
	}
}

// stepped takes a step of a library.
func (a *announced) stepped(_ string, e *observe.Event) {
	switch e.Step {
	case observe.ReleaseStarted:
		a.of(e.Value).released = true
	case observe.TakenBack:
		f := a.of(e.Value)
		f.takenBack = append(f.takenBack, e.Node.Node)
	}
}

func (a *announced) of(value string) *fate {
	if a.fates[value] == nil {
		a.fates[value] = &fate{}
	}
	return a.fates[value]
}

// passes takes a command that arrives, when the request before it is done.
func (a *announced) passes(_ redis.Passage, asked *redis.Asked) {
	if _, isWatched := a.last[asked.Server]; isWatched {
		a.isOver(asked.Server)
	}
}

// applied takes a change of a key on a node.
func (a *announced) applied(c *redis.Applied) {
	if c.Removed() && slices.Contains(a.run.Resources, c.Key) {
		last := a.last[c.Server]
		last.client, last.removed = c.Client.Name(), append(last.removed, vote{c.Key, c.Before.Value})
	}
}

// published takes what a node publishes.
func (a *announced) published(s *redis.Server, channel string) {
	i := slices.IndexFunc(a.run.Resources, func(r string) bool { return driver.WakeChannel(r) == channel })
	if i >= 0 {
		a.last[s].published = append(a.last[s].published, a.run.Resources[i])
	}
}

// isOver judges the last request to a node, which is done. On some tiers what it changes is told before what it publishes, on
// others after that.
func (a *announced) isOver(s *redis.Server) {
	last := a.last[s]
	for _, v := range last.removed {
		f := a.of(v.value)
		i := slices.Index(last.published, v.key)
		a.run.Judged[checker.JudgeAnnounced]++
		isTakenBack := slices.Contains(f.takenBack, s.Name())
		switch {
		case i >= 0 && (f.released || isTakenBack):
			last.published = slices.Delete(last.published, i, i+1)
		case i < 0 && f.released && !isTakenBack && s.Forbidden() == "":
			a.run.broken(checker.Contract, v.key, "%s releases its key on %s and does not publish that, although waiting clients are to be told",
				last.client, s.Name())
		}
	}
	for _, key := range last.published {
		a.run.broken(checker.Contract, key, "%s publishes a release of %q, although no holder has released it there, or nobody is to be told",
			s.Name(), key)
	}
	last.removed, last.published = last.removed[:0], last.published[:0]
}
