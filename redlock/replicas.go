package redlock

import (
	"fmt"

	"redlocksim/redlock/driver"
)

// WithReplicas has a node's vote count only once n of its replicas have confirmed that they have it: Redis' WAIT, behind every
// acquire and extend, in the same round trip. It is for nodes that fail over to a replica. A failover to a replica that has not
// confirmed still loses the lock, and an old master may serve its clients beside the new one, so this makes the danger smaller
// and does not end it.
//
// The replicas' answers are waited for within the node timeout. The nodes must be [driver.Replicated].
func WithReplicas(n int) Option {
	return option("WithReplicas", func(s *settings) error {
		if n <= 0 {
			return fmt.Errorf("%w: %d replicas, must be at least 1", ErrInvalid, n)
		}
		for _, node := range s.nodes {
			if _, ok := node.(driver.Replicated); !ok {
				return fmt.Errorf("%w: node %q cannot say what its replicas have", ErrInvalid, node.Name())
			}
		}
		s.replicas = n
		return nil
	})
}
