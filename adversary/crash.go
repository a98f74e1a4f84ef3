package adversary

import (
	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// crash has the holder crash: as soon as its first request for a key has reached a node, as soon as such requests have reached
// a quorum, or once it is granted the lock. A second client asks when all it can have left behind should be over. A rival has
// had the lock before, lest the second is refused where everybody is.
func crash(s *Settings) []*scenarios.Scenario {
	arrived := func(nth int) faults.Trigger {
		return faults.Trigger{After: &faults.Moment{Event: "set-arrived", Client: holder, Nth: nth}}
	}
	moments := []faults.Trigger{arrived(1), arrived(s.Quorum()), after(holder, "acquire-done")}
	if s.Quorum() < 2 {
		moments = moments[1:]
	}
	var built []*scenarios.Scenario
	for i, moment := range moments {
		x := newBuilder(s, 0, s.Rho().Neg(), decimal.Zero)
		x.Expect.Reached = nil
		x.Clients = append(x.Clients, rival)
		for i := range x.Timeline { // nothing of the holder's arrives before it asks for the lock
			if x.Timeline[i].Client == holder {
				x.Timeline[i].Client = rival
			}
		}
		x.client(faults.Trigger{At: x.start}, rival, x.takes(), step(scenarios.UnlockStep))
		x.must(rival, "acquire-done")
		if i == len(moments)-1 {
			x.must(holder, "acquire-done")
		}
		x.client(after(rival, "release-done"), holder, x.takes(), x.stays())
		x.fault(moment, "crash", &faults.Crash{Client: holder})
		over := after(holder, "crash")
		over.Plus = 2 * s.Lock.TTL
		x.client(over, second, x.asks(), step(scenarios.UnlockStep))
		x.must(holder, "crash")
		x.must(second, "acquire-done")
		x.ends(s.Lock.TTL)
		built = append(built, x.Scenario)
	}
	return built
}
