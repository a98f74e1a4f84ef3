package scenarios

import "fmt"

// Record has a result carry a Recording, for pictures of the run: it makes the run once more and wants the same histories
// and traces. A run on tier live cannot be made again, and is left without one. The error matches ErrNotRepeated or is an
// internal one.
func (r *Result) Record() error {
	if r.Recording != nil || r.Tier == Live {
		return nil
	}
	again, err := Run(r.Scenario, Options{Tier: r.Tier, Seed: r.Seed, Locker: r.locker, Record: true})
	if err != nil {
		return err
	}
	if again.HistoryHash != r.HistoryHash || again.TraceHash != r.TraceHash {
		return fmt.Errorf("scenarios: %s, tier %s, seed %d: %w when it was recorded: %s", r.Scenario.Name, r.Tier, r.Seed, ErrNotRepeated,
			FirstDifference(r.History, again.History))
	}
	r.Recording = again.Recording
	return nil
}
