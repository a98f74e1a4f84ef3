package scenarios

import (
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/sim/storage"
)

// Features are those that the scenario turns on, of the library and of the resource.
func (s *Scenario) Features() []reach.Feature {
	var on []reach.Feature
	if s.Storage != storage.Register && (len(s.Timeline) == 0 || s.writes()) {
		on = append(on, reach.Checks)
	}
	if !protocols.Has[protocols.RedlockSettings](s.Lock) {
		return on
	}
	own := protocols.Of[protocols.RedlockSettings](s.Lock)
	renews, several := s.Lock.Renewals > 0, false
	for i := range s.Timeline {
		item := &s.Timeline[i]
		for j := range item.Do {
			step := &item.Do[j]
			renews = renews || step.Kind == RenewStep && !step.Released || step.is(inOneCall)
			several = several || step.is(takes) && len(item.Taken(step, s.Resources)) > 1
		}
	}
	for _, f := range []struct {
		feature reach.Feature
		is      bool
	}{
		{reach.Fencing, own.Fencing}, {reach.Guard, own.Guard != nil}, {reach.WakeUp, own.WakeUp > 0},
		{reach.Batching, own.Batching > 0}, {reach.Renewal, renews}, {reach.Several, several}, {reach.Permits, s.TakesPermits()},
	} {
		if f.is {
			on = append(on, f.feature)
		}
	}
	return on
}
