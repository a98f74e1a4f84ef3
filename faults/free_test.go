package faults

import (
	"strings"
	"testing"
	"time"

	"redlocksim/internal/lockkeys"
	"redlocksim/internal/rediscmd"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// asks has client c1 send each node some commands, over links that take no time.
func asks(f *testField, commands func(node string) []string) {
	client := f.World.Client("c1")
	client.Go(func() {
		for i, node := range names.Nodes {
			f.World.Network.Link("c1", node).SetLatency(network.Both, network.Latency{})
			for _, command := range commands(node) {
				f.World.Conns(client)[i].Do(f.World.Kernel.Draw(command), time.Unix(1e6, 0), rediscmd.Request{Args: strings.Fields(command)})
			}
		}
	})
}

// comes is when a moment comes after c1 was granted a resource at 100 ms; 0 if never.
func comes(f *testField, resource string, m Moment) (at time.Duration) {
	f.World.Kernel.After(100*ms, func() {
		f.World.Record(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Process: "c1", Resource: resource})
	})
	m.Event = NodesFree
	Trigger{After: &m}.Arm(f.Field, func() { at = time.Duration(f.World.Kernel.Now()) })
	f.World.Kernel.Run(kernel.True(time.Minute))
	return at
}

// A node is free of a lock when the last of the keys has gone that stand for it by the patterns of whoever's lock it is.
func TestNodesAreFreeOfTheKeysOfALock(t *testing.T) {
	const never = time.Duration(0)
	keys := map[string][]string{
		"A": {"SET lock:r:1 v PX 1000", "SET lock:r:2 v PX 3000"},
		"B": {"SET lock:r:1 v PX 2000", "SET lock:s:1 v"},
		"C": {"SET lock:r v", "SET r v PX 5000"},
	}
	const granted = 100 * time.Millisecond
	for _, c := range []struct {
		patterns string
		resource string // that is granted
		moment   Moment
		want     time.Duration
	}{
		{"lock:{resource}:*", "r", Moment{Client: "c1"}, granted},                           // C
		{"lock:{resource}:*", "r", Moment{Client: "c1", Nth: 2}, 2001 * ms},                 // B
		{"lock:{resource}:*", "r", Moment{Client: "c1", Nth: 2, Lead: 500 * ms}, 1501 * ms}, //
		{"lock:{resource}:*", "r", Moment{Client: "c1", Nth: 3}, 3001 * ms},                 // A
		{"lock:{resource}:*", "r", Moment{Client: "c1", Nth: 4}, never},                     // there are three
		{"lock:{resource}:*", "r", Moment{Client: "c2"}, never},                             // who is granted none
		{"lock:{resource}:*", "r", Moment{Client: "c1", Resource: "s"}, never},              // which nobody is granted
		{"lock:{resource}:*", "s", Moment{Client: "c1", Resource: "s", Nth: 2}, granted},    // A and C
		{"lock:{resource}:*", "s", Moment{Client: "c1", Nth: 3}, never},                     // B's key never goes
		{"lock:{resource}:* lock:{resource}", "r", Moment{Client: "c1", Nth: 3}, never},     // nor does C's
		{"lock:{resource}:* {resource}", "r", Moment{Client: "c1"}, 2001 * ms},              // B
		{"lock:{resource}:* {resource}", "r", Moment{Client: "c1", Nth: 3}, 5001 * ms},      // C
		{"", "r", Moment{Client: "c1", Nth: 3}, 5001 * ms},                                  // the key of its name
	} {
		f := newField(t, redis.NoPersistence)
		var patterns []string // nil: nobody declares any
		if c.patterns != "" {
			patterns = strings.Fields(c.patterns)
		}
		f.World.LockOf = lockkeys.Of(patterns, []string{"r", "s"}).Of
		asks(f, func(node string) []string { return keys[node] })
		if at := comes(f, c.resource, c.moment); at != c.want {
			t.Errorf("%s, granted %s, %+v: %v, want %v", c.patterns, c.resource, c.moment, at, c.want)
		}
	}
}

// A node is free of a lock also when a request takes the key away, or has it end earlier, and not when one has it end later.
func TestNodesAreFreeOfWhatIsReleased(t *testing.T) {
	for _, c := range []struct {
		command string // to all nodes, at half a second; the key goes after three
		lead    time.Duration
		want    time.Duration
	}{
		{"DEL r", 0, 500 * ms},
		{"DEL r", 200 * ms, 500 * ms},
		{"PEXPIRE r 1000", 0, 1501 * ms},
		{"PEXPIRE r 1000", 200 * ms, 1301 * ms},
		{"PEXPIRE r 10000", 0, 10501 * ms},
		{"DEL s", 0, 3001 * ms},
	} {
		f := newField(t, redis.NoPersistence)
		f.World.LockOf = lockkeys.Of(nil, []string{"r", "s"}).Of
		asks(f, func(string) []string { return []string{"SET r v PX 3000"} })
		f.World.Kernel.After(500*ms, func() { asks(f, func(string) []string { return []string{c.command} }) })
		if at := comes(f, "r", Moment{Client: "c1", Nth: 3, Lead: c.lead}); at != c.want {
			t.Errorf("%s, lead %v: %v, want %v", c.command, c.lead, at, c.want)
		}
	}
}
