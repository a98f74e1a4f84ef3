package faults

import "time"

// Schedule is a counterexample with one holder of the lock, in true time since the beginning of the run.
type Schedule struct {
	// TTL is the lock's time to live.
	TTL time.Duration
	// Asked is when the holder asked, and Until is when it ceases to believe in the lock.
	Asked, Until time.Duration
	// Injected is when the first fault of the kind was, on a node.
	Injected time.Duration
}

// redisTick is what Redis' clock counts: a key is gone once the clock reads more than its deadline, in whole milliseconds.
const redisTick = time.Millisecond

// tightRestart is the shortest delay of a restart that is safe.
func tightRestart(s Schedule) (time.Duration, string) {
	return s.Until - s.Injected,
		"the rest of the holder's lease (less the time in which the second client asks and is granted)"
}
