package experiment

import (
	"sync"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// drawn are runs of experiments around the default settings, by their seeds.
var drawn = sync.OnceValues(func() (all []drawnRun, err error) {
	s := NewSpace(DefaultBase())
	for seed := range uint64(300) {
		x := Candidate{Seed: seed}.Scenario(s)
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed, Unwatched: true})
		if err != nil {
			return nil, err
		}
		all = append(all, drawnRun{x, out})
	}
	return all, nil
})

type drawnRun struct {
	*scenarios.Scenario
	out *scenarios.Outcome
}

// Leases end while their clients are stopped in an extend of them, within the budget.
func TestStopsOutlastLeases(t *testing.T) {
	runs, err := drawn()
	if err != nil {
		t.Fatal(err)
	}
	over, first, timed := 0, 0, 0
	for _, x := range runs {
		extends := map[int]bool{} // by grant: the extends that have not returned
		for _, e := range x.out.History {
			switch {
			case e.Func == history.Extend:
				extends[e.Grant] = e.Kind == history.Call
			case e.Kind == history.Expire && extends[e.Grant] && len(x.Budget.Beyond(x.out.Used)) == 0:
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
	runs, err := drawn()
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, x := range runs {
		started := map[string]bool{}
		for _, e := range x.out.History {
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
