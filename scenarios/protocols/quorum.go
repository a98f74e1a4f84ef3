package protocols

// QuorumSettings are those of protocols that count votes.
type QuorumSettings struct {
	// Quorum is how many nodes must vote for a lock; 0 is the majority. Default: 0. Example: 4
	Quorum int `yaml:"quorum" range:"0.."`
}

func (q QuorumSettings) quorum(nodes int) int {
	if q.Quorum == 0 {
		return majority(nodes)
	}
	return q.Quorum
}

// majority is computed here and not by the library, whose quorum is judged by it.
func majority(nodes int) int { return nodes/2 + 1 }
