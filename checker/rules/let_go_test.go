package rules

import (
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// denied asks all nodes in vain, and is told so, in a call that does not return yet.
const denied = "acquire; SET r v NX PX 10000 on ABC; step denied v; "

func TestNoKeyOutlivesItsLock(t *testing.T) {
	const (
		still  = "c1 has let go of the lock for 125ms, but its key still stands on "
		locked = "acquire; SET r v PX 10000 on ABC; granted v; "
		counts = "acquire; HINCRBY r c1:1 1 on ABC; PEXPIRE r 10000 on ABC; "
	)
	tell(t, checker.Leftover, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"a failed attempt is released", denied + "DEL r on ABC; returns", ""},
		{"a lock that counts is given back", counts + "HINCRBY r c1:1 1 on ABC; DEL r on ABC; returns", ""},
		{"a lock that counts is not given back", counts + "DEL r on AC; returns", still + "B"},
		{"a failed attempt is not released", denied + "returns", still + "A"},
		{"a failed attempt is not released on C", denied + "DEL r on AB; returns", still + "C"},
		{"a failed attempt is released on C, which carries out nothing", denied + "DEL r on AB; answers-wrongly C; DEL r on C; returns", ""},
		{"a failed attempt is released late", denied + "200ms; DEL r on ABC; returns", still + "A"},
		{"nobody tells of the failed attempt", "acquire; SET r v PX 10000 on ABC; returns", still + "A"},
		{"another call may still be about it", "acquire; acquire; SET r v PX 10000 on ABC; returns; 1s; DEL r on ABC; returns", ""},
		{"a lease is held", locked, ""},
		{"a lease is released", locked + "release v; DEL r on ABC; returns", ""},
		{"a lease is not released on B", locked + "release v; DEL r on AC; returns", still + "B"},
		{"a lease is released inside of a call", locked + "step release-started v", still + "A"},
		{"a value is used again", locked + "release v; DEL r on ABC; returns; " + locked, ""},
		{"the key runs out", "acquire; SET r v PX 100 on ABC; returns", ""},
		// Another key is set at last, so that it is looked.
		{"the node's clock is set back when the key has run out",
			"acquire; SET r v PX 100 on A; returns; 110ms; steps A -1s; 200ms; SET r w PX 1 on B", still + "A"},
		{"the node's clock is set back when the key has run out and was removed",
			"acquire; SET r v PX 100 on A; returns; 110ms; GET r on A; steps A -1s; 200ms; SET r w PX 1 on B", ""},
		{"the client crashes", denied + "in 0s crash; 1s", ""},
		{"the client is paused", denied + "in 0s pause; in 60ms resume; 1ms; returns", ""},
		{"the node is paused", denied + "DEL r on AB; pause-node C; 60ms; resume-node C; returns", ""},
		{"the node is killed and keeps its key", denied + "DEL r on AB; kill C; restart C; returns", ""},
		{"the key is evicted", denied + "DEL r on AB; evict C r; returns", ""},
		{"the key is overwritten", denied + "DEL r on AB; overwrite C; returns", ""},
		{"another key is evicted", denied + "DEL r on AB; evict C s; returns", still + "C"},
		{"a release is lost", denied + "cut-requests C; DEL r on ABC; returns", ""},
		{"the answer to a release is lost on another link", denied + "cut-replies A; DEL r on BA; returns", still + "C"},
		{"the client's clock stands still", "clock -1000000000; " + denied + "returns", ""},
		{"the client's clock is slow", "clock -500000000; " + denied + "50ms; DEL r on ABC; returns", ""},
	})
}

// A call for less may be open that began before, and a vote may be asked for as its call returns.
func TestAVoteIsForWhatWasAskedFor(t *testing.T) {
	r := newRig(t)
	r.goes("c1", 0, func(a *actor) {
		a.Called(&protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{2}, TTL: 3 * time.Millisecond})
		a.does("acquire; returns; SET r v PX 10000 on ABC; DEL r on ABC")
	})
	r.finds(t, checker.Leftover, "")
}

// A client that is started again has nothing of the call that it crashed in: a vote that it leaves behind is seen.
func TestKeysOfAClientThatCrashed(t *testing.T) {
	r := newRig(t)
	r.does("c1", "in 100ms crash; in 100ms start; acquire; 1h")
	r.Kernel.After(101*ms, func() { r.does("c1", "acquire; SET r v PX 10000 on ABC; returns") })
	r.finds(t, checker.Leftover, "c1 has let go of the lock for 125ms, but its key still stands on A")
}

func TestKeysLastNoLongerThanAskedFor(t *testing.T) {
	const (
		locked   = "acquire; SET r v PX 10000 on ABC; granted v; "
		tooLong  = "c1's key on A has a time to live of %s, and 10s is the longest that was asked for"
		timeless = "c1 has set its key on A for 125ms, and the key has no time to live"
	)
	tell(t, checker.Leftover, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"as long as the acquire asked for", locked, ""},
		{"longer than the acquire asked for", "acquire; SET r v PX 20000 on A; returns", strings.Replace(tooLong, "%s", "20s", 1)},
		{"as long as the extend asked for", locked + "extend v; PEXPIRE r 10000 on AB; returns", ""},
		{"longer than the extend asked for", locked + "extend v; PEXPIRE r 10001 on AB; returns", strings.Replace(tooLong, "%s", "10.001s", 1)},
		{"no time to live any more", locked + "SET r v on A", timeless},
		{"no time to live any more, and the answer is lost", locked + "cut-replies A; SET r v on A", timeless},
		{"no time to live for a moment", locked + "SET r v on A; PEXPIRE r 10000 on A", ""},
	})
	t.Run("as long as before, by a clock that was stepped back", func(t *testing.T) {
		r := newRig(t)
		r.goes("c1", 0, func(a *actor) {
			a.does(locked + "steps A -1s")
			s := a.Server("A")
			key, _, _ := s.Memory().Peek("r")
			// As of a vote for a second token, which shortens no time.
			trace.Tell(a.Events, &redis.Applied{Change: redis.Change{Key: "r", Before: key, After: key}, Server: s, Client: a.client, Sent: a.Kernel.Now()})
		})
		r.finds(t, checker.Leftover, "")
	})
}

// Code that takes time may read an answer after the deadline although it came before that. A client that does not know of its
// key leaves it to its TTL.
func TestAnAnswerThatMayBeTooLateMeansThatAKeyMayStay(t *testing.T) {
	const still = "c1 has let go of the lock for 125ms, but its key still stands on A"
	for step, want := range map[time.Duration]string{0: still, 166 * time.Millisecond: still, 167 * time.Millisecond: ""} {
		t.Run(step.String(), func(t *testing.T) {
			r := newRig(t)
			r.StepTime = step
			r.does("c1", denied+"returns") // is answered 998ms before the deadline of a second
			r.finds(t, checker.Leftover, want)
		})
	}
}
