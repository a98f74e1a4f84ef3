package batch_test

import (
	"context"
	"slices"
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
		again, _ := batch.Again([]*driver.Command{c}, &batch.Known{}, now)
		if len(again) == 1 != test.again || len(answers) == 1 == test.again {
			t.Errorf("%v, released: %v, %v left: sent again %d times, answered %v", test.op, test.released, test.left, len(again), answers)
		}
		if len(answers) == 1 && answers[0].Outcome != driver.TimedOut {
			t.Errorf("%v is answered %v, and the node may not be known to have done nothing", test.op, answers[0])
		}
	}
}

// Commands of a kind share a script, unless something in between concerns the same key: a vote that overtook an extend of its
// key would find the lock still taken, or take its place.
func TestArrange(t *testing.T) {
	guarded := &driver.Conditions{MaxTTL: time.Minute}
	vote := func(key string) *driver.Command {
		return &driver.Command{Op: driver.OpAcquire, Keys: []string{key}, Value: "v", Conditions: guarded}
	}
	command := func(op driver.Op, key string) *driver.Command {
		return &driver.Command{Op: op, Keys: []string{key}, Value: "v"}
	}
	for _, test := range []struct {
		name     string
		commands []*driver.Command
		want     []int // how many commands each request is for
	}{
		{"votes", []*driver.Command{vote("r"), vote("s")}, []int{2}},
		{"votes around another key's extend", []*driver.Command{vote("r"), command(driver.OpExtend, "t"), vote("s")}, []int{2, 1}},
		{"votes around an extend of the second's key", []*driver.Command{vote("r"), command(driver.OpExtend, "s"), vote("s")}, []int{1, 1, 1}},
		{"releases", []*driver.Command{command(driver.OpRelease, "r"), command(driver.OpRelease, "s")}, []int{2}},
		{"a release and a vote", []*driver.Command{command(driver.OpRelease, "r"), vote("r")}, []int{1, 1}},
	} {
		message := batch.Arrange(test.commands, 0)
		var sizes []int
		for i := range message.Requests() {
			sizes = append(sizes, message.Requests()[i].Len())
		}
		if !slices.Equal(sizes, test.want) {
			t.Errorf("%s: requests for %v commands, want %v", test.name, sizes, test.want)
		}
	}
}

// A script is sent in full until the node has run it, and by its hash from then on.
func TestScriptInFull(t *testing.T) {
	var known batch.Known
	for _, test := range []struct {
		fate   batch.Fate
		inFull bool
	}{{batch.Unanswered, true}, {batch.Ran, true}, {batch.Ran, false}} {
		extend := &driver.Command{Op: driver.OpExtend, Keys: []string{"r"}, Value: "v", Done: func(*driver.Command, driver.Reply) {}}
		message := batch.Arrange([]*driver.Command{extend}, known.Scripts())
		if inFull := message.Requests()[0].InFull; inFull != test.inFull {
			t.Errorf("sent in full: %t, want %t", inFull, test.inFull)
		}
		message.Answered(&known, batch.Confirmation{}, func(int, int) (batch.Fate, driver.Reply) {
			return test.fate, driver.Reply{Outcome: driver.Accepted}
		})
	}
}
