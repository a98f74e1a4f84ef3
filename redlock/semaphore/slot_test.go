package semaphore

import (
	"context"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// Nothing grows with each call of HoldAll, which looks for no permit that was given back.
func TestHoldAllLeavesNothing(t *testing.T) {
	s, err := New(redlocktest.New(t, 1).Client(), "pool", 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := s.HoldAll(t.Context(), time.Minute, redlock.Renewal{}, func(context.Context, *redlock.Lease) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.freed); n > 2 {
		t.Errorf("of 2 permits %d are noted as given back", n)
	}
}
