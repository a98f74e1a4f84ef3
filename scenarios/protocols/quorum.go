package protocols

import "redlocksim/internal/quorum"

// QuorumSettings are those of protocols that count votes.
type QuorumSettings struct {
	// Quorum is how many nodes must vote for a lock; 0 is the majority. Default: 0. Example: 4
	Quorum int `yaml:"quorum"`
}

func (q QuorumSettings) quorum(nodes int) int {
	if q.Quorum == 0 {
		return quorum.Majority(nodes)
	}
	return q.Quorum
}
