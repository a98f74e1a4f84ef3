package redlock

import (
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// releaseAll sends the release to all nodes, also to those that said no or did not answer: a SET whose reply was lost may have
// been applied. Votes that arrive from now on are taken back.
func (a *acquisition) releaseAll() *round {
	r := a.newRound(driver.OpRelease, 0, quorum.All(len(a.client.nodes)), a.client.clock.Now())
	for i := range r.commands {
		r.commands[i].Wake = a.client.wakeSpread != 0
	}
	a.sendRelease(r)
	return r
}

// releaseAfter cleans up after a failed attempt, whatever happens to the caller's context. A retry waits for the nodes that
// answered the acquire; silent ones would only cost another node timeout. It wakes nobody, since refused clients would go on
// waking each other.
func (a *acquisition) releaseAfter(acquire *round) *round {
	r := a.newRound(driver.OpRelease, 0, quorum.All(len(a.client.nodes)), a.client.clock.Now())
	a.mu.Lock()
	r.forAnswers = true
	r.awaited = acquire.ballot.Replied()
	r.decide()
	a.mu.Unlock()
	a.sendRelease(r)
	return r
}

func (a *acquisition) sendRelease(r *round) {
	a.mu.Lock()
	a.released = true
	a.releasing = r.ballot.Asked
	a.mu.Unlock()
	r.send()
}
