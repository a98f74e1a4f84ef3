package soak

import (
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// machineAllowance is the time that the bounds of a soak allow for a busy machine.
const machineAllowance = 2 * time.Second

// granularity is how late a key can expire, as Redis counts in milliseconds.
const granularity = time.Millisecond

// votesEnd is how long a vote for a lock can stay on a node after the faults have ended and all clients were told to rest. The
// last command that asks for one is sent at most a node timeout later, and the vote lasts for a TTL.
func votesEnd(s *scenarios.Scenario) time.Duration {
	return s.Lock.NodeTimeout + s.Lock.TTL + granularity + machineAllowance
}

// takeableWithin is the time within which every lock can be taken again once all faults have ended and all clients rest. The
// votes on the nodes must end. An attempt that is under way when the last of them does fails, and releases, each within a node
// timeout. Then the longest retry delay passes, and the next attempt is answered within a node timeout. With the restart guard,
// restarted nodes are first left out for the largest TTL, from the first attempt on.
func takeableWithin(s *scenarios.Scenario) time.Duration {
	own := protocols.Of[protocols.RedlockSettings](s.Lock)
	attempt := 2*s.Lock.NodeTimeout + own.RetryDelay.Max
	bound := votesEnd(s) + attempt + s.Lock.NodeTimeout
	if g := own.Guard; g != nil {
		bound += attempt + g.MaxTTL + granularity
	}
	return bound
}
