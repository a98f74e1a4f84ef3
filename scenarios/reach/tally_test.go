package reach_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios/reach"
)

// The tallies of parts are that of the whole, in whatever order they are added up. A feature that some part turns on is on,
// and it is used if any run used it.
func TestTally(t *testing.T) {
	var fenced, batched, whole, other reach.Tally
	fenced.TurnOn(reach.WakeUp, reach.Fencing)
	fenced.Add(reach.Of(&reach.Run{}), &reach.Run{})
	batched.TurnOn(reach.Batching)
	if !slices.Equal(batched.Unused, []reach.Feature{reach.Batching}) {
		t.Errorf("before any run: %+v", batched)
	}
	batched.Add(reach.Of(&everything), &everything) // is told of a release, and shares a batch
	if batched.Unused != nil {
		t.Errorf("after a run with a batch %v is unused", batched.Unused)
	}
	whole.Merge(fenced)
	whole.Merge(batched)
	other.Merge(batched)
	other.Merge(fenced)
	if !reflect.DeepEqual(whole, other) || whole.Reached.Runs != 2 {
		t.Errorf("%+v and %+v", whole, other)
	}
	if want := []reach.Feature{reach.Fencing, reach.WakeUp, reach.Batching}; !slices.Equal(whole.Features, want) {
		t.Errorf("on: %v, want %v", whole.Features, want)
	}
	if !slices.Equal(whole.Unused, []reach.Feature{reach.Fencing}) || len(whole.Warnings()) != 1 || !strings.Contains(whole.Warnings()[0], "fencing") {
		t.Errorf("unused: %v, %q", whole.Unused, whole.Warnings())
	}
	clone := whole.Clone()
	whole.TurnOn(reach.Guard)
	whole.Reached.AddEffect("kill")
	if !slices.Equal(clone.Unused, []reach.Feature{reach.Fencing}) || clone.Reached.Reached(reach.Effect, "kill") != 0 {
		t.Errorf("a clone changes: %+v", clone)
	}
}

// Where nobody looked for faults that made a difference nothing is said about them.
func TestTallyWithoutEffects(t *testing.T) {
	for _, noEffects := range []bool{false, true} {
		tally := reach.Tally{NoEffects: noEffects}
		tally.Add(reach.Of(&everything), &everything)
		var b strings.Builder
		if err := tally.Write(&b); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(b.String(), "0 of 1 faults made a difference; never: kill"); said == noEffects || !strings.Contains(b.String(), "1 of 2 faults injected; never: pause") {
			t.Errorf("%t: %s", noEffects, &b)
		}
	}
}
