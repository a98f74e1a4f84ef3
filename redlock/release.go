package redlock

// releaseAll sends the release of the claim to all nodes, also those that said no or did not answer: a SET whose reply
// was lost may have been applied. From here on a vote that still comes is taken back.
func (cl *claim) releaseAll(prepare func(*round)) *round {
	all := allNodes(len(cl.client.nodes))
	r := cl.newRound(OpRelease, 0, all)
	if prepare != nil {
		prepare(r)
	}
	cl.mu.Lock()
	cl.released = true
	cl.releasing = all
	cl.mu.Unlock()
	r.send()
	return r
}

// releaseAfter cleans up after a failed acquire. It never depends on the caller's context. What a retry waits for is
// that those nodes have answered which answered the acquire; silent ones would only cost another node timeout.
func (cl *claim) releaseAfter(acquire *round) *round {
	return cl.releaseAll(func(r *round) {
		cl.mu.Lock()
		defer cl.mu.Unlock()
		r.cleanUp = true
		r.awaited = acquire.ballot.replied()
		r.settled = r.awaited == 0
	})
}
