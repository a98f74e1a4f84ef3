package live

import (
	"time"

	"redlocksim/scenarios"
)

// machineAllowance is what the bounds of a soak allow for threads that wait for a processor.
const machineAllowance = 2 * time.Second

// granularity is how late Redis, which counts in milliseconds, lets a key expire.
const granularity = time.Millisecond

// votesEnd is how long after the faults have ended, and everybody was told to rest, a vote for a lock can stay on a node: the
// last command that asked for one was sent a node timeout later at the most, and it lasts for a TTL.
func votesEnd(s *scenarios.Scenario) time.Duration {
	return s.Lock.NodeTimeout + s.Lock.TTL + granularity + machineAllowance
}

// TakeableWithin is the time within which every lock can be taken again once all faults have ended and everybody who used
// it has gone: the votes that are on the nodes then must end; an attempt that is under way when the last of them does fails,
// and releases, each within a node timeout; the longest delay before the next passes; and that one is answered within a
// node timeout. With the restart guard, nodes that restarted are watched for the largest TTL first, from the first attempt on.
func TakeableWithin(s *scenarios.Scenario) time.Duration {
	attempt := 2*s.Lock.NodeTimeout + s.Lock.RetryDelay.Max
	bound := votesEnd(s) + attempt + s.Lock.NodeTimeout
	if g := s.Lock.Guard; g != nil {
		bound += attempt + g.MaxTTL + granularity
	}
	return bound
}
