package locktest_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/locktest"
)

func TestOurLock(t *testing.T) {
	experiments := locktest.Experiments(t, locktest.Setup{
		Settings: "lock: {ttl: 2s, node-timeout: 20ms}",
		Assume:   locktest.Assumptions{ClockRate: "0.1%", RestartDelay: 2 * time.Second},
	})
	rapid.Check(t, func(t *rapid.T) {
		e := experiments.Draw(t, "experiment")
		locktest.MutualExclusion(t, e)
		locktest.Promises(t, e)
	})
}
