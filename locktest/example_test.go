package locktest_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"redlocksim/locktest"
)

// outcome is what a test of a hundred experiments comes to. In a test it is rapid.Check that draws them, and t that is told.
func outcome(s locktest.Setup) string {
	experiments := locktest.Experiments(&recorder{}, s)
	for seed := range 100 {
		if record(func(t rapid.TB) { locktest.MutualExclusion(t, experiments.Example(seed)) }).failed {
			return "no mutual exclusion"
		}
	}
	return "nothing found"
}

// Nodes without persistence are kept away after a restart. A lock of 2 s is believed in for 2 s less 1 % and 2 ms, the
// allowance for clock drift, so that 1978 ms are enough where clocks are right, and a millisecond less is not where
// messages take no time.
func Example_delayedRestart() {
	for _, delay := range []time.Duration{1977 * time.Millisecond, 1978 * time.Millisecond} {
		fmt.Println(delay, outcome(locktest.Setup{
			Settings: "lock: {ttl: 2s}\nnetwork: {latency: 0s}",
			Assume:   locktest.Assumptions{RestartDelay: delay},
		}))
	}
	// Output:
	// 1.977s no mutual exclusion
	// 1.978s nothing found
}

// Clocks that are wrong by up to a tenth, some fast and some slow, need an allowance of 1 − 0.9/1.1 of the time to live,
// which is 363.7 ms of 2 s. Redis' keys live for a millisecond longer than asked for, and the first whole millisecond at
// which they are gone is a part of one later.
func Example_drift() {
	for _, allowance := range []time.Duration{361 * time.Millisecond, 364 * time.Millisecond} {
		fmt.Println(allowance, outcome(locktest.Setup{
			Settings: fmt.Sprintf("lock: {ttl: 2s, drift: {factor: 0%%, constant: %v}}\nnetwork: {latency: 0s}", allowance),
			Assume:   locktest.Assumptions{ClockRate: "10%"},
		}))
	}
	// Output:
	// 361ms no mutual exclusion
	// 364ms nothing found
}
