package random

import (
	"context"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/search/experiment"
)

// A feature that the settings turn on is unused until a run uses it.
func TestUnusedFeatures(t *testing.T) {
	for _, test := range []struct {
		runs int
		want []reach.Feature
	}{{0, []reach.Feature{reach.Fencing, reach.WakeUp, reach.Batching}}, {40, nil}} {
		base := experiment.DefaultBase()
		protocols.Change(&base.Lock, func(own *protocols.RedlockSettings) {
			own.Fencing, own.WakeUp, own.Batching = true, 10*time.Millisecond, 1
		})
		o := small("")
		o.Runs = test.runs
		ctx, cancel := context.WithCancel(context.Background())
		if test.runs == 0 {
			cancel() // before anything is run
		}
		sum, err := Explore(ctx, experiment.NewSpace(base), o)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sum.Unused, test.want) {
			t.Errorf("after %d runs %v are unused, want %v", sum.Runs, sum.Unused, test.want)
		}
	}
}
