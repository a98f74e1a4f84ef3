package experiment

import (
	"slices"
	"testing"

	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// Calls of one client wait for one another, by themselves: some give up in front of others and some behind, and some have
// their turn.
func TestCallsWaitInTheirClient(t *testing.T) {
	var three, inFront, behind, served int
	for seed := range uint64(200) {
		s := NewSpace(DefaultBase())
		s.Base.Resources = []string{"R", "S"}[:1+seed%2]
		x := Candidate{Seed: seed}.Scenario(s)
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		waiting := map[string][]int{} // by client: its operations, in the order in which they came
		for _, e := range out.History {
			w := waiting[e.Process]
			switch {
			case e.Kind == history.Step && e.Name == observe.Queued.String():
				if waiting[e.Process] = append(w, e.Op); len(w) == 2 {
					three++
				}
			case e.Kind == history.Step && e.Name == observe.AttemptStarted.String():
				if at := slices.Index(w, e.Op); at >= 0 {
					served++
					waiting[e.Process] = slices.Delete(w, at, at+1)
				}
			case e.Kind == history.Return && e.Func == history.Acquire:
				at := slices.Index(w, e.Op)
				switch {
				case at < 0:
				case at > 0:
					behind++
				case len(w) > 1:
					inFront++
				}
				if at >= 0 {
					waiting[e.Process] = slices.Delete(w, at, at+1)
				}
			}
		}
	}
	t.Logf("three wait %d times; %d give up in front of others and %d behind; %d have their turn", three, inFront, behind, served)
	for what, n := range map[string]int{"three calls wait": three, "one gives up in front of others": inFront, "one gives up behind others": behind, "one has its turn": served} {
		if n < 10 {
			t.Errorf("%s %d times in 200 runs", what, n)
		}
	}
}
