package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
)

const ms = time.Millisecond

const refusedFree = `c1 tries to take the lock on "r" and is refused, although nothing is in the way: nobody else asks for it or has it, and `

// tries is a try of c1, after 100 ms.
const tries = "; 100ms; acquire; 10ms; returns taken"

// What is in the way of a try is there from the beginning, or does something in its middle, after 5 ms.
func TestTriesAreRefusedForAReason(t *testing.T) {
	const all = refusedFree + "A, B and C of 3 nodes are up, free and in reach"
	tell(t, checker.NeedlesslyUnavailable, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"nothing", "0s" + tries, all},
		{"one node down", "kill B" + tries, refusedFree + "A and C of 3"},
		{"two nodes down", "kill B; kill C" + tries, ""},
		{"two nodes go down", "in 105ms kill B; in 105ms kill C" + tries, ""},
		{"two nodes paused", "pause-node B; pause-node C" + tries, ""},
		{"one way cut", "cut-requests A" + tries, refusedFree + "B and C of 3"},
		{"two ways cut", "in 105ms cut-replies A; in 105ms cut-replies B" + tries, ""},
		{"two ways cut and mended", "in 105ms cut-requests A; in 105ms mend A; in 105ms cut-requests B; in 105ms mend B" + tries, ""},
		{"two ways cut and mended as it begins",
			"100ms; acquire; in 0s cut-requests A; in 0s mend A; in 0s cut-requests B; in 0s mend B; 10ms; returns taken", ""},
		{"two ways held", "in 105ms hold A; in 105ms hold B" + tries, ""},
		{"two ways slow", "delay A 1ms; delay B 1ms" + tries, ""},
		{"a network as slow as the timeout", "takes-up-to A 25ms; takes-up-to B 25ms; takes-up-to C 25ms" + tries, ""},
		{"another client's ways cut", "c2 cut-requests A then cut-requests B then cut-requests C" + tries, all},
		{"a pause", "in 105ms pause; in 105ms resume" + tries, ""},
		{"a clock that is fast", "clock 1000" + tries, ""},
		{"a clock that is stepped", "in 105ms clock-step 1s" + tries, ""},
		{"a node's clock that is stepped", "in 105ms steps A 1s" + tries, all},
		{"somebody who asks", "c2 waiting then 200ms then returns taken" + tries, ""},
		{"somebody who asked before", "c2 waiting then 50ms then returns taken" + tries, all},
		{"somebody who has it", "c2 waiting then 1ms then granted v" + tries, ""},
		{"a client that is closed", "close" + tries, ""},

		{"keys of a quorum", "c2 SET r w PX 10000 on AB" + tries, ""},
		{"the key of one node", "c2 SET r w PX 10000 on A" + tries, refusedFree + "B and C"},
		{"the key of one node, and no answer of another before",
			"c2 SET r w PX 10000 on A; cut-replies C; meanwhile PEXPIRE r 1000 on C; 5ms; mend C; 60ms" + tries, ""},
		{"the key of one node, and a late answer of another before",
			"c2 SET r w PX 10000 on A; cut-replies C; meanwhile PEXPIRE r 1000 on C; 5ms; mend C; PEXPIRE r 1000 on C; 60ms" + tries, refusedFree + "B and C"},
		{"no answer of a node before", "cut-replies C; meanwhile PEXPIRE r 1000 on C; 5ms; mend C; 60ms" + tries, all},
		{"keys that are gone", "c2 SET r w PX 10000 on AB then DEL r on AB" + tries, all},
		{"keys that go meanwhile", "c2 SET r w PX 10000 on AB then 100ms then DEL r on AB" + tries, ""},
		{"keys that have run out", "c2 SET r w PX 50 on AB" + tries, all},
		{"keys that run out meanwhile", "c2 SET r w PX 100 on AB" + tries, ""},
		{"keys that come meanwhile", "c2 100ms then SET r w PX 10000 on AB" + tries, ""},
		{"keys of other locks", "c2 SET s w PX 10000 on ABC" + tries, all},
		{"its votes", "100ms; acquire; SET r v PX 10000 on AB; 10ms; returns taken", all},
		// A vote that is overwritten by hand is in the way of whom it was for.
		{"its votes, of which one is overwritten", "100ms; acquire; SET r v PX 10000 on AB; overwrite A; 10ms; returns taken", refusedFree + "B and C"},
		{"its votes, which are overwritten", "100ms; acquire; SET r v PX 10000 on AB; overwrite A; overwrite B; 10ms; returns taken", ""},
	})
}

// Nothing is wrong with a client from its restart on.
func TestTriesAfterARestart(t *testing.T) {
	r := newRig(t)
	r.does("c1", "in 50ms crash; in 50ms start")
	r.Kernel.After(51*ms, func() { r.does("c1", tries) })
	r.finds(t, checker.NeedlesslyUnavailable, refusedFree+"A, B and C")
}

// Votes that were sent at the moment at which another call of the client gave up may be for that one.
func TestTriesAreRefusedForVotesOfWhoGaveUp(t *testing.T) {
	for gaveUp, want := range map[time.Duration]string{100 * ms: "", 90 * ms: refusedFree + "A, B and C"} {
		t.Run(gaveUp.String(), func(t *testing.T) {
			r := newRig(t)
			r.does("c1", "waiting; "+gaveUp.String()+"; returns taken")
			r.does("c1", "100ms; acquire; 10ms; returns taken")
			r.does("c1", "100ms; SET r w on A")
			r.does("c1", "100ms; SET r w on B")
			r.finds(t, checker.NeedlesslyUnavailable, want)
		})
	}
}

// A node with the restart guard counts as free only when the guard lets it vote.
func TestTriesAndTheGuard(t *testing.T) {
	for _, c := range []struct {
		name, record string
		want         string
	}{
		{"quarantine", " 1000 10000", ""},
		{"fit to vote", " 0 10000", refusedFree + "A, B and C"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: ttl} })
			r.goes("c2", 0, func(a *actor) {
				for _, n := range []string{"A", "B", "C"} {
					a.asks(n, "SET", driver.GuardKey, r.Server(n).RunID()+c.record)
				}
			})
			r.does("c1", tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// A node with a fencing counter that votes have not raised so far, or above which there is no token, does not count as free.
func TestTriesAndTheCounters(t *testing.T) {
	const counter = "c2 SET redlock:token:r "
	for _, c := range []struct{ name, does, want string }{
		{"raised by votes", counter + "5 on ABC", refusedFree + "A, B and C"},
		{"raised by votes to the last but one", counter + "9007199254740990 on ABC", refusedFree + "A, B and C"},
		{"raised by votes far above another", counter + "4294967297 on AB", ""},
		{"raised by votes less far above another", counter + "4294967296 on AB", refusedFree + "A, B and C"},
		{"raised by votes to the largest", counter + "9007199254740991 on ABC", ""},
		{"set by hand on one node", "counts A 5", refusedFree + "B and C"},
		{"set by hand on a quorum", "counts A 5; counts B 5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Fencing = true })
			r.does("c1", c.does+tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// With these settings one client that asks has the lock after 2 × (150 ms + 50 ms + 150 ms) + 1 ms, or 17 times the sum while a
// node may be its gate and is taken.
func TestWaitingEnds(t *testing.T) {
	const late = `c1 waits for the lock on "r" and is not granted it in `
	tell(t, checker.NeedlesslyUnavailable, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"in vain, not for long", "waiting; 701ms; returns taken", ""},
		{"in vain", "waiting; 702ms; returns taken", late + "702ms"},
		{"granted", "waiting; 701ms; granted v", ""},
		{"granted late", "waiting; 702ms; granted v", late + "702ms"},
		{"in vain with a node that is taken, not for long", "SET r w PX 60000 on C; waiting; 5951ms; returns taken", ""},
		{"in vain with a node that is taken", "SET r w PX 60000 on C; waiting; 5952ms; returns taken", late + "5.952s"},
		{"to the end", "waiting; 1h; returns taken", late + "1m0s"},
		{"behind a key", "waiting; SET r v PX 10000 on AB; 400ms; granted v", ""},
		{"behind its own vote", "waiting; SET r v PX 10000 on AB; 1s; returns taken", late + "1.004s"},
		{"behind a vote from before", "SET r v PX 10000 on AB; waiting; 1s; returns taken", ""},
		{"behind a vote that was not taken back for a fault",
			"waiting; SET r v PX 10000 on AB; cut-requests A; mend A; cut-requests B; mend B; 1s; returns taken", ""},
		{"as messages are lost", "cut-requests A; cut-requests B; waiting; meanwhile SET r v PX 10000 on AB; 1s; returns taken", ""},
		{"as connections break", "meanwhile 300ms then SET s w on B; meanwhile 300ms then SET s w on A; " +
			"in 301ms reset A; in 301ms reset B; waiting; 800ms; returns taken", ""},
		{"for another client's release", "c2 300ms then DEL r on ABC; SET r w PX 10000 on ABC; waiting; 790ms; granted v", ""},
		{"after another client's release", "c2 300ms then DEL r on ABC; SET r w PX 10000 on ABC; waiting; 1100ms; granted v", late},
		{"behind keys that last longer as the nodes' clocks are set back",
			"SET r w PX 300 on AB; in 100ms steps A -500ms; in 100ms steps B -500ms; waiting; 1400ms; granted v", ""},
		{"behind keys that end sooner as the nodes' clocks are set forward",
			"SET r w PX 900 on AB; in 100ms steps A 800ms; in 100ms steps B 800ms; waiting; 1s; granted v", late + "899.999999ms"},
		{"behind keys that last longer as the nodes' clocks are slow",
			"SET r w PX 30000 on AB; in 100ms drifts A; in 100ms drifts B; waiting; 31s; granted v", ""},
		{"behind a lease of its own client", "acquire; granted v; waiting; 1s; returns taken", ""},
		{"after a lease of its own client",
			"acquire; granted v; meanwhile waiting then 1s then returns taken; 100ms; release v; 10ms; returns", late + "890ms"},
		{"behind a vote by which another call of its client has the lock", // one comes late
			"meanwhile waiting then 2s then returns taken; waiting; 1ms; SET r v PX 10000 on AB; granted v; SET r v PX 10000 on C; expired", ""},
		{"one of several in one client", "meanwhile waiting then 800ms then returns taken; waiting; 800ms; returns taken", late + "800ms"},
	})
}

// Several clients that ask must have the lock later than one, unless somebody else asks, too, meanwhile; and only if all nodes
// are in order.
// bothVote has the two clients get votes from the beginning.
func bothVote(one, two string) func(*rig) {
	return func(r *rig) {
		r.does("c1", one)
		r.does("c2", two)
	}
}

func TestContentionEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		length time.Duration
		does   func(*rig)
		want   string
	}{
		// 5 × (150 ms + 50 ms + 150 ms) + 1 ms, of which 100 ms are for gates.
		{"in vain, not for long", 1751 * time.Millisecond, nil, ""},
		{"in vain", 1752 * time.Millisecond, nil, `c1 waits for the lock on "r" and is not granted it in 1.752s, although nothing is in the way, and neither is any of the 2 who ask`},
		{"where two attempts meet", 1800 * time.Millisecond, bothVote("SET r v on A; 1s; DEL r on A", "SET r w on BC; 1s; DEL r on BC"),
			`c1 waits for the lock on "r" and is not granted it in 1.8s`},
		{"where three attempts meet", 2700 * time.Millisecond, bothVote("SET r v on A; SET r x on B; 1s; DEL r on AB", "SET r w on C; 1s; DEL r on C"), ""},
		{"long after three attempts have met", 3 * time.Second, bothVote("SET r v on A; SET r x on B; 1s; DEL r on AB", "SET r w on C; 1s; DEL r on C"),
			`c1 waits for the lock on "r" and is not granted it in 1.99`},
		{"where three attempts do not meet", 1800 * time.Millisecond, bothVote("SET r v on A; DEL r on A; SET r x on B; DEL r on B", "10ms; SET r w on C; 1s; DEL r on C"),
			`c1 waits for the lock on "r" and is not granted it in 1.8s`},
		{"where three attempts meet whose votes have expired", 2700 * time.Millisecond,
			bothVote("SET r v PX 1000 on A; SET r x PX 1000 on B", "SET r w PX 1000 on C"), ""},
		{"in vain, for long", 20 * time.Second, nil, `c1 waits for the lock on "r" and is not granted it in 20s, although nothing is in the way, and neither is any of the 2 who ask`},
		{"with others", 20 * time.Second, func(r *rig) {
			for i := range 40 {
				r.goes("c2", time.Duration(i)*time.Second/2, func(a *actor) { a.does("acquire; 10ms; returns taken") })
			}
		}, ""},
		{"without a node", 20 * time.Second, func(r *rig) { r.Server("C").Pause() }, ""},
		{"with a way that is slow", 20 * time.Second, func(r *rig) { r.Network.Link("c2", "C").Delay(network.Replies, ms) }, ""},
		{"with a clock that is slow", 20 * time.Second, func(r *rig) { r.Client("c2").Clock().SetRate(-1000) }, ""},
		{"with one that ends", 20 * time.Second, func(r *rig) { r.Kernel.After(time.Second, func() { _ = r.Crash(r.Client("c2")) }) },
			`c1 waits for the lock on "r" and is not granted it in 19s, although nothing is in the way: nobody has it, and`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			for _, name := range []string{"c1", "c2"} {
				r.does(name, "waiting; "+c.length.String()+"; returns taken")
			}
			if c.does != nil {
				c.does(r)
			}
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}
