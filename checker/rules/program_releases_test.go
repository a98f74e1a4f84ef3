package rules

import (
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// program is a rig whose lock is somebody's.
func (r *rig) program(change func(*Run)) *rig {
	return r.only("program-releases", func(r *Run) { r.Foreign, r.Declared = true, true }, change)
}

// What a program answers is compared with its keys on three nodes, of which it needs two, or on one.
func TestProgramsAnswerWhatIsTrue(t *testing.T) {
	const (
		one, two  = "acquire; SET r v PX 10000 on A; ", "acquire; SET r v PX 10000 on AB; "
		all       = "acquire; SET r v PX 10000 on ABC; "
		held      = all + "granted v; release v; "
		lasts     = "c1 is told that its lease lasts until "
		isSaid    = "c1 is told that it has released the lock, "
		heldByTwo = two + "granted v; "
	)
	for _, c := range []struct {
		name    string
		oneNode bool
		does    string
		want    string
	}{
		{"granted by two", false, two + "granted v", ""},
		{"granted by one", false, one + "granted v", lasts + "9.902s, but only 1 of the 2 keys that it takes do."},
		{"granted by one of one", true, one + "granted v", ""},
		{"granted by nobody", true, "acquire; granted v", lasts + "9.9s, but only 0 of the 1 key"},
		{"granted with two values", false, one + "SET r w PX 10000 on B; granted v 5s", lasts + "5.004s, but only 1 of the 2"},
		{"granted for longer than the keys last", false, all + "granted v 10010ms", lasts + "10.016s, but only 0 of the 2 keys that it takes do."},
		{"extended on two", false, heldByTwo + "extend v; PEXPIRE r 20000 on AB; moved v 10s; returns", ""},
		{"extended on one", false, heldByTwo + "extend v; PEXPIRE r 20000 on A; moved v 10s; returns", lasts + "19.9"},
		{"not extended, but moved to later", false, heldByTwo + "extend v; PEXPIRE r 20000 on A; moved v 10s; returns no-quorum", lasts + "19.9"},
		{"not extended, and over earlier", false, heldByTwo + "extend v; PEXPIRE r 20000 on A; returns no-quorum", ""},
		{"released on all", false, held + "DEL r on ABC; returns", ""},
		{"released on two", false, held + "DEL r on BC; returns", ""},
		{"released on one", false, held + "DEL r on C; returns", isSaid + "but 2 keys of it still stand, and it takes 2."},
		{"released on one of one", true, one + "granted v; release v; DEL r on A; returns", ""},
		{"released on none of one", true, one + "granted v; release v; returns", isSaid + "but 1 key of it still stand"},
		{"released when it is over, whatever is there", false, heldByTwo + "release v; 11s; DEL r on AB; returns", ""},
		{"released when it is over", false, heldByTwo + "release v; 11s; returns", isSaid + "which it had no more: its release has removed no key."},
		{"released when it is over on one of two", false, heldByTwo + "PEXPIRE r 1 on A; 10ms; release v; DEL r on AB; returns", ""},
		{"released with an answer that never came", false, heldByTwo + "release v; 11s; cut-replies A; DEL r on A; returns", ""},
		{"released with an error", false, held + "DEL r on C; returns no-quorum", ""},
		{"not released, and it has removed the lock", false, heldByTwo + "release v; DEL r on A; returns lost",
			"c1 is told that it has released nothing, but its release has removed 1 key of its lock, which takes 2."},
		{"not released, and it was over", false, heldByTwo + "11s; release v; DEL r on A; returns lost", ""},
		{"lost, and it stands", false, heldByTwo + "extend v; returns lost", "c1 is told that its lease is lost, but 2 keys of it still stand, and it takes 2."},
		{"lost, and one stands", false, heldByTwo + "extend v; DEL r on A; returns lost", ""},
		{"lost when it is over", false, "acquire; SET r v PX 60000 on AB; granted v; 11s; extend v; returns lost", ""},
		{"lost, and another lease stands", false, all + "granted v; evict A r; evict B r; evict C r; acquire; SET r w PX 10000 on ABC; granted w; extend v; returns lost", ""},
		{"not extended, and it stands", false, heldByTwo + "extend v; returns no-quorum", ""},
		{"one of two leases is released", false, all + "granted v; acquire; granted w; release v; returns", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).program(func(r *Run) { r.OneNode = c.oneNode })
			r.does("c1", c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// An acquire that waits, of which it is not known what became of it, has waited for as long as it was to, or met with trouble.
func TestProgramsWait(t *testing.T) {
	const waits, gaveUp = "in-a-context-for 30s; waiting; ", "c1 was to wait for the lock for 20s more, and is told that it may or may not have it"
	tell(t, checker.Contract, func(t *testing.T) *rig { return newRig(t).program(func(*Run) {}) }, []scene{
		{"it gives up", waits + "10s; returns no-quorum", gaveUp},
		{"it gives up after a fault", "evict C s; " + waits + "10s; returns no-quorum", ""},
		{"an error at once", waits + "1s; returns no-quorum", ""},
		{"it is refused", waits + "10s; returns taken", ""},
		{"it waits", waits + "30s; returns no-quorum", ""},
		{"it was to wait for ever", "in-a-context; waiting; 10s; returns no-quorum", ""},
		{"it was not to wait", "in-a-context-for 30s; acquire; 10s; returns no-quorum", ""},
	})
}

// An acquire that has failed asks for the removal of each key that it has set, whatever it has heard, or cannot.
func TestProgramsForgetNoKey(t *testing.T) {
	const sets, forgot = "acquire; SET r v PX 10000 on A; ", "c1 was told at 2ms that it does not have the lock, but had set its key on A, and has asked nobody to remove it"
	tell(t, checker.Leftover, func(t *testing.T) *rig { return newRig(t).program(func(*Run) {}) }, []scene{
		{"refused", sets + "returns taken", forgot},
		{"not known", sets + "returns no-quorum", forgot},
		{"not known, and no answer was heard", "cut-replies A; " + sets + "returns no-quorum", "c1 was told at"},
		{"removed in the call", sets + "DEL r on A; returns no-quorum", ""},
		{"removed soon after it", sets + "returns no-quorum; 1s; DEL r on A", ""},
		{"removed too late", sets + "returns no-quorum; 3s; evict C s; DEL r on A", forgot}, // an eviction has it be looked at
		{"removed in vain", sets + "cut-requests A; DEL r on A; returns no-quorum", ""},
		{"over before anybody would remove it", "acquire; SET r v PX 500 on A; returns no-quorum", ""},
		{"a crash", sets + "returns no-quorum; in 0s crash; 1s", ""},
		{"of a client that had connected before", "tried A; 1s; " + sets + "returns taken", "c1 was told at"},
		{"of a client that connects", sets + "tried A; returns taken", ""},
		{"on a node that is down", sets + "kill A; returns taken", ""},
		{"of another call, which is granted it later", "acquire; acquire; SET r v PX 10000 on AB; returns taken; granted v 5s", ""},
		{"of another call, which has the lock", "acquire; acquire; SET r v PX 10000 on ABC; granted v; returns no-quorum", ""},
	})
}

// Who believes in a lease until its lock says that it is lost is told when too few keys were renewed.
func TestProgramsTellOfLosses(t *testing.T) {
	const untold = "c1 is not told that its lease is over, although too few of its keys were renewed to last beyond 10.00"
	renewed := func(nodes string) string { return strings.Repeat("5s; PEXPIRE r 10000 on "+nodes+"; ", 12) }
	for _, c := range []struct{ name, does, want string }{
		{"never told", "", untold},
		{"told in time", "10s; ended v lost", ""},
		{"told too late", "10100ms; evict C s; ended v lost", "c1 is not told"}, // an eviction has it be looked at
		{"released in time", "5s; ended v released; release v; DEL r on ABC; returns", ""},
		{"renewed", renewed("BC") + "ended v released", ""},
		{"renewed on one", renewed("C"), untold},
		{"paused", "in 9s pause; 8s", ""},
		{"crashed", "in 0s crash; 1s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).program(func(r *Run) { r.Renews = true })
			r.does("c1", "acquire; SET r v PX 10000 on ABC; granted v; "+c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// No lease is over when it is granted, by what the program says.
func TestNoLeaseIsOverWhenItIsGranted(t *testing.T) {
	for why, want := range map[string]string{
		"":                                      "",
		protocols.Over("granted", -time.Second): "c1's lease was already over when it was granted (valid for -1s)",
	} {
		r := newRig(t).program(func(r *Run) { r.Declared = false })
		r.goes("c1", 0, func(a *actor) {
			a.Record(history.Event{Kind: history.Expire, Process: "c1", Resource: "r", Grant: 1, Detail: why})
		})
		r.finds(t, checker.Contract, want)
	}
}

// Nothing excuses an extend that extends too few keys. That keys end sooner than they were set to may be the fault of clocks.
func TestNothingExcusesAnExtendOfNothing(t *testing.T) {
	for nodes, excused := range map[string]bool{"A": false, "AB": true} {
		r := newRig(t).program(func(*Run) {})
		r.does("c1", "acquire; SET r v PX 10000 on AB; granted v; extend v; PEXPIRE r 20000 on "+nodes+"; moved v 20s; returns")
		r.Kernel.Run(kernel.True(time.Minute))
		if found := r.Findings(); len(found) != 1 || found[0].Kind != checker.Contract || found[0].Assumes != excused {
			t.Errorf("extended on %s: %+v, want one that is excused: %v", nodes, found, excused)
		}
	}
}
