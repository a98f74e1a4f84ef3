package rules

import (
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// underWay is a call that has not returned, and when it began.
type underWay struct {
	*protocols.Call
	began kernel.True
}

// waited is for how long a call has been under way, of a client that has not stood still since, and that has not just taken its
// time; zero if it cannot be told: a lock of one's own may do anything before it asks.
func (r *Run) waited(c underWay) time.Duration {
	waited := r.World.Kernel.Now().Sub(c.began)
	if r.Foreign || waited <= stepsToAsk*r.StepTime || !r.pauses.hasRun(r.World.Client(c.Client), c.began) {
		return 0
	}
	return waited
}

// stepsToAsk are more steps than a client's code takes from a call to its first attempt, if it does not wait.
const stepsToAsk = 8
