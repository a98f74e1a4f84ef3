package shrink

import (
	"slices"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// TestMergedResources: nothing names a resource that was taken out, and what named both names one.
func TestMergedResources(t *testing.T) {
	s := scenarios.Default()
	s.Resources = []string{"a", "b", "c"}
	s.Timeline = []scenarios.Item{
		{Resource: []string{"a", "b"}, Do: []scenarios.Step{{Kind: scenarios.TryLockStep}, {Kind: scenarios.WriteStep, Resource: []string{"b"}}}},
		{When: faults.Trigger{After: &faults.Moment{Event: "acquire-done", Resource: "b"}}, Resource: []string{"c"}},
	}
	merge(&s, "b", "a")
	if !slices.Equal(s.Resources, []string{"a", "c"}) || !slices.Equal(s.Timeline[0].Resource, []string{"a"}) ||
		!slices.Equal(s.Timeline[0].Do[1].Resource, []string{"a"}) || s.Timeline[1].When.After.Resource != "a" || !slices.Equal(s.Timeline[1].Resource, []string{"c"}) {
		t.Errorf("%+v", s.Timeline)
	}
}
