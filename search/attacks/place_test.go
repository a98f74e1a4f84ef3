package attacks_test

import (
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
)

// What is kept of an attack on a lock that renews by itself is what was run: it cuts the holder off, too.
func TestPlaceIsWhatRuns(t *testing.T) {
	o := scenarios.Options{Foreign: &scenarios.Foreign{Renews: true, New: func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find("redlock")
		return p.New(env)
	}}}
	found, _ := attacks.Find("clocks")
	s := settings(t, "lock: {ttl: 8s}")
	out, err := found[0].Run(s, o)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := found[0].Place(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(placed.Timeline), len(out.Result.Scenario.Timeline); got != want {
		t.Errorf("%d items are kept, and %d were run", got, want)
	}
}
