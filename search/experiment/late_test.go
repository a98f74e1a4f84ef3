package experiment

import (
	"testing"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// Leases end while their clients are stopped in an extend of them, within the budget.
func TestStopsOutlastLeases(t *testing.T) {
	s := NewSpace(DefaultBase())
	over, first, timed := 0, 0, 0
	for seed := range uint64(300) {
		x := Candidate{Seed: seed}.Scenario(s)
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		extends := map[int]bool{} // by grant: the extends that have not returned
		for _, e := range out.History {
			switch {
			case e.Func == history.Extend:
				extends[e.Grant] = e.Kind == history.Call
			case e.Kind == history.Expire && extends[e.Grant] && len(x.Budget.Beyond(out.Used)) == 0:
				over++
			}
		}
		for _, item := range x.Timeline {
			if item.Fault != nil && item.When.After == nil {
				timed++
				if item.When.At == 0 {
					first++
				}
			}
		}
	}
	if over < 10 {
		t.Errorf("%d leases end during an extend in 300 runs", over)
	}
	if first < timed/25 {
		t.Errorf("%d of %d faults at a time are there from the beginning", first, timed)
	}
}

// Clients are started again after a crash, under their old name, and lock again.
func TestRestartedClientsLock(t *testing.T) {
	s := NewSpace(DefaultBase())
	again := 0
	for seed := range uint64(300) {
		out, err := scenarios.Run(Candidate{Seed: seed}.Scenario(s), scenarios.Options{Seed: seed, Unwatched: true})
		if err != nil {
			t.Fatal(err)
		}
		started := map[string]bool{}
		for _, e := range out.History {
			switch {
			case e.Kind == history.Fault && e.Name == "client-restarts":
				started[e.Process] = true
			case e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK && started[e.Process]:
				again++
			}
		}
	}
	if again < 20 {
		t.Errorf("restarted clients get %d locks in 300 runs", again)
	}
}
