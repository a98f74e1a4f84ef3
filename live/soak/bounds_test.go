package soak

import (
	"testing"
	"time"

	"redlocksim/scenarios/protocols"
)

// The bound is the sum that its documentation derives.
func TestTakeableWithin(t *testing.T) {
	s := Default()
	s.Lock.TTL, s.Lock.NodeTimeout = 10*time.Second, 100*time.Millisecond
	protocols.Change(&s.Lock, func(own *protocols.DelaySettings) {
		own.RetryDelay = protocols.Range{Min: 50 * time.Millisecond, Max: 150 * time.Millisecond}
	})
	if got, want := takeableWithin(s), 12551*time.Millisecond; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: 10 * time.Second} })
	if got, want := takeableWithin(s), 22902*time.Millisecond; got != want {
		t.Errorf("with the restart guard: %v, want %v", got, want)
	}
}
