package faults

import (
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Only steps that matter to a key count, and all of a clock's together: what they have moved it by between any two moments.
func TestStepsCount(t *testing.T) {
	f := newField(t, redis.Always)
	set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
	step := func(seconds float64, process string, by time.Duration) *Placed {
		return at(seconds, &ClockStep{Process: process, By: by})
	}
	inject(t, f, step(0.1, "A", time.Hour), step(1, "B", time.Hour), // no key is there yet, or at all
		step(1, "A", 2*time.Second), step(2, "A", 3*time.Second), step(3, "A", -4*time.Second), step(4, "A", time.Second))
	if f.Used.ClockStep != 5*time.Second {
		t.Errorf("used %v", f.Used.ClockStep)
	}
}

func TestMoves(t *testing.T) {
	const now, end = kernel.Wall(1000 * time.Second), 1010_000 // ms
	for _, test := range []struct {
		key     string
		expires int64
		by      time.Duration
		want    bool
	}{
		{"k", end, time.Second, true},
		{"k", end, -time.Second, true},
		{"k", 0, time.Hour, false},
		{driver.TokenKey("k"), end, 10 * time.Second, false},
		{driver.TokenKey("k"), end, 10*time.Second + ms, true},
		{driver.TokenKey("k"), end, -time.Hour, false},
		{driver.TokenKey("k"), 0, time.Hour, false},
		{driver.GuardKey, end, 11 * time.Second, true},
	} {
		if got := Moves(redis.Record{Key: test.key, ExpiresAt: test.expires}, now, test.by); got != test.want {
			t.Errorf("%s until %d, by %v: %v", test.key, test.expires, test.by, got)
		}
	}
}
