package redlock

import (
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// releaseAll sends the release of the claim to all nodes, also those that said no or did not answer: a SET whose reply
// was lost may have been applied. From here on a vote that still comes is taken back.
func (cl *claim) releaseAll() *round {
	r := cl.newRound(driver.OpRelease, 0, quorum.All(len(cl.client.nodes)))
	for i := range r.commands {
		r.commands[i].Wake = cl.client.wakeSpread != 0
	}
	cl.sendRelease(r)
	return r
}

// releaseAfter cleans up after a failed acquire. It never depends on the caller's context. What a retry waits for is
// that those nodes have answered which answered the acquire; silent ones would only cost another node timeout. It wakes
// nobody: clients that are refused would wake each other again and again.
func (cl *claim) releaseAfter(acquire *round) *round {
	r := cl.newRound(driver.OpRelease, 0, quorum.All(len(cl.client.nodes)))
	cl.mu.Lock()
	r.cleanUp = true
	r.awaited = acquire.ballot.Replied()
	r.decide()
	cl.mu.Unlock()
	cl.sendRelease(r)
	return r
}

func (cl *claim) sendRelease(r *round) {
	cl.mu.Lock()
	cl.released = true
	cl.releasing = r.ballot.Asked
	cl.mu.Unlock()
	r.send()
}
