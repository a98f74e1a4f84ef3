package monitor

import (
	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// sources judges how often the library's adapter sends a node the source of a script: until the node has run it, and after that
// its hash, until the node says that it has forgotten it.
type sources struct {
	run *Run
	// ran is since when each client knows that a node has run a script.
	ran map[pair]map[script]kernel.True
	// forgetful is the last message in which a script was forgotten: its other scripts are sent in full again as well.
	forgetful int
}

// script is one that is sent in full. An acquire of one key is a plain SET once the node has voted. The script that looks
// before that what the node allows is that of acquires of several keys, and is not learned for these.
type script struct {
	source string
	looks  bool
}

func scriptOf(a *redis.Asked) script {
	return script{a.Source, a.Intent == redis.Sets && len(a.Keys) == 1}
}

func watchSources(r *Run) {
	// Where code takes time, that of several goroutines adds up before one of them sends what it has decided to.
	if !r.isLibrary() || r.StepTime > 0 {
		return
	}
	x := &sources{run: r, ran: map[pair]map[script]kernel.True{}}
	r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
}

func (x *sources) passes(at redis.Passage, a *redis.Asked) {
	if a.Source == "" && at != redis.Broken && (at != redis.Answered || a.Answer != driver.Failed && a.Answer != driver.Unanswered) {
		return
	}
	way := pair{a.Client, a.Server}
	switch {
	case at == redis.Sent:
		x.sends(a, x.ran[way])
	case at == redis.Broken, at == redis.Answered && (a.Answer == driver.Failed || a.Answer == driver.Unanswered):
		// The node may be another one now, also a replica that it was before, or forbid what it allowed, or have forgotten the
		// script.
		for _, s := range a.Server.Group() {
			clear(x.ran[pair{a.Client, s}])
		}
		x.forgetful = a.Message
	case at == redis.Answered && a.Settled && a.Message != x.forgetful && x.isLearned(a):
		if x.ran[way] == nil {
			x.ran[way] = map[script]kernel.True{}
		}
		x.ran[way][scriptOf(a)] = x.run.World.Kernel.Now()
	}
}

// isLearned says whether the client knows from an answer that the node has run the script. The first acquires find out by a
// script whether the node allows what a lock needs, which it has shown with its vote.
func (x *sources) isLearned(a *redis.Asked) bool {
	_, isTimely := x.run.reads(a.Client, a.Deadline)
	return isTimely && (a.Intent != redis.Sets || a.Answer == driver.Accepted)
}

// sends judges a script that is sent in full. A client that made another one in its place begins anew.
func (x *sources) sends(a *redis.Asked, ran map[script]kernel.True) {
	x.run.Judged[checker.JudgeSources]++
	since, is := ran[scriptOf(a)]
	if !is || x.run.clients.number(a.Client.Name()) > 0 || a.Server.Forbidden() != "" {
		return
	}
	// What a client that was paused has heard, it learns only when it goes on.
	if since = max(since, x.run.pauses.ended(a.Client)); a.Sent > since {
		x.run.broken(checker.Conduct, x.run.about(a.Keys), "%s sends %s a script in full %v after the node had run it for this client", a.Client.Name(),
			a.Server.Name(), a.Sent.Sub(since))
	}
}
