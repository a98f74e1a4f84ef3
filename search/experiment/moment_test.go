package experiment

import (
	"slices"
	"testing"

	"redlocksim/scenarios"
)

// Faults are injected at messages, of each kind, and mostly at those of one node. Not all of them come by: the last of many may
// never be sent.
func TestFaultsAtMessages(t *testing.T) {
	runs, err := drawn()
	if err != nil {
		t.Fatal(err)
	}
	all := messages()
	injected, placed, ofNode := map[string]int{}, 0, 0
	for _, x := range runs {
		isAtMessage := func(i scenarios.Item) bool {
			return i.Fault != nil && i.When.After != nil && slices.Contains(all, i.When.After.Event)
		}
		for i, item := range x.Timeline {
			if !isAtMessage(item) {
				continue
			}
			placed++
			if item.When.After.Node != "" {
				ofNode++
			}
			if !slices.Contains(x.out.Left, i) {
				injected[item.When.After.Event]++
			}
		}
	}
	total := 0
	for _, m := range all {
		if injected[m] == 0 {
			t.Errorf("no fault is injected at %s", m)
		}
		total += injected[m]
	}
	if total < placed/3 || ofNode < placed/2 || ofNode == placed {
		t.Errorf("of %d faults at messages, %d are injected, and %d are at those of one node", placed, total, ofNode)
	}
}
