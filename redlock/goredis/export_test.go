package goredis

// Primaries counts the nodes that are kept of a cluster.
func (s *Single) Primaries() int {
	n := s.node.(*cluster)
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.primaries)
}
