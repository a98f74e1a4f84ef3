package attacks

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// beyondWhole is by how much a TTL is longer than whole seconds, and 44 ms and 4 ms longer than whole tenths and hundredths:
// who counts in one of these takes it for shorter, whether the rest is cut off or rounded to the nearest.
const beyondWhole = 444 * time.Millisecond

// rounding has the TTL be no whole number of seconds: the longest such that is no longer than that of the settings, or 1.444 s.
// The second client asks as soon as a quorum is free, after the grant or after an extension by as much. Clocks are right.
func rounding(s *Settings) (built []*scenarios.Scenario) {
	odd, own := *s, *s.Scenario
	own.Budget = faults.Budget{Delay: s.Budget.Delay}
	own.Lock.TTL = max((own.Lock.TTL-beyondWhole).Truncate(time.Second), time.Second) + beyondWhole
	if own.Lock.Check(len(own.Nodes.Names)) != nil { // it says that it takes no such TTL
		own.Lock.TTL = s.Lock.TTL
	}
	odd.Scenario, odd.Pause = &own, 0
	for _, odd.Extends = range []bool{false, true} {
		built = append(built, clocks(&odd)...)
	}
	return built
}
