package rules

import (
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// clock is what the code of a client reads on its clock.
func (r *Run) clock(client string) time.Time { return r.World.Client(client).ProgramClock().Now() }

// step is the longest time that the code of a client takes from one step to the next, by its clock, which may be fast.
func (r *Run) step(client *kernel.Process) time.Duration {
	rate := time.Duration(client.Clock().Rate())
	return r.StepTime + r.StepTime/1000*max(0, rate)/1_000_000
}

// reads says whether a client to which an answer comes now can read it before a deadline of its clock, and whether it must:
// where code takes time, an answer near the deadline may be either. A round has a deadline for all its nodes, and asks them one
// after the other.
func (r *Run) reads(client *kernel.Process, deadline time.Time) (can, must bool) {
	if deadline.IsZero() {
		return true, false // nobody knows
	}
	late := client.ProgramClock().Now().Sub(deadline)
	return late <= r.takesToRead(), late <= -r.takesToRead()
}

// hears is reads for the library, and the answer to one of its commands.
func (r *Run) hears(a *redis.Asked) (can, must bool) {
	can, must = r.reads(a.Client, a.Deadline)
	return can, must && !a.Latest
}

// takesToRead is how long after an answer came the code of a client may read it at the latest, if it runs.
func (r *Run) takesToRead() time.Duration { return time.Duration(2*len(r.World.Servers)) * r.StepTime }
