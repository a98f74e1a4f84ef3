package batch_test

import (
	"context"
	"testing"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// shared is what an acquisition that is being released lends its commands, or one that is not.
type shared bool

func (shared) Context() context.Context { return context.Background() }

func (shared) Arguments(keys []string, value string, ttl time.Duration) ([]any, any, any) {
	return []any{keys[0]}, value, ttl.Milliseconds()
}

func (s shared) IsMoot() bool { return bool(s) }

// What a node has forgotten the script for is sent again, unless it is being released meanwhile. The release is.
func TestAgain(t *testing.T) {
	now := time.Unix(1, 0)
	for _, test := range []struct {
		op       driver.Op
		released bool
		left     time.Duration
		again    bool
	}{
		{driver.OpExtend, false, time.Second, true},
		{driver.OpExtend, false, 0, false},
		{driver.OpExtend, true, time.Second, false},
		{driver.OpAcquire, true, time.Second, false},
		{driver.OpRelease, true, time.Second, true},
	} {
		var answers []driver.Reply
		c := &driver.Command{Op: test.op, Keys: []string{"r"}, Value: "v", TTL: time.Second, Deadline: now.Add(test.left), Shared: shared(test.released),
			Done: func(_ *driver.Command, r driver.Reply) { answers = append(answers, r) }}
		again := batch.Again([]*driver.Command{c}, &batch.Known{}, now)
		if len(again) == 1 != test.again || len(answers) == 1 == test.again {
			t.Errorf("%v, released: %v, %v left: sent again %d times, answered %v", test.op, test.released, test.left, len(again), answers)
		}
		if len(answers) == 1 && answers[0].Outcome != driver.TimedOut {
			t.Errorf("%v is answered %v, and the node may not be known to have done nothing", test.op, answers[0])
		}
	}
}
