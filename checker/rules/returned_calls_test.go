package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
)

func TestALeaseRestsOnVotes(t *testing.T) {
	const (
		vote, quorum = "acquire; SET r v PX 10000 on A; ", "acquire; SET r v PX 10000 on AB; "
		granted      = "granted v; ends v lost"
		// Another second is over when an extend begins.
		held     = quorum + "granted v 9898ms; 1s; "
		extended = "moved v 1s; returns; ends v lost"
		told     = "c1 is told that its lease lasts "
		frees    = "c1's release succeeded, but only "
	)
	tell(t, checker.Contract, func(t *testing.T) *rig { return newRig(t) }, []scene{
		{"a quorum", quorum + granted, ""},
		{"too few", vote + granted, told + "until 9.902s, but its keys last for so long on only 1 of the 2 nodes"},
		{"another's value", "acquire; SET r other NX PX 10000 on B; SET r v NX PX 10000 on AB; " + granted, told},
		{"deleted again", quorum + "DEL r on A; granted v 5s; ends v lost", told},
		{"counted from the reply", "waiting; SET r v PX 10000 on AB; 1s; granted v 10s; ends v lost", told + "until 11.004s, but its keys last for so long on only 0 of the 2"},
		{"by a clock that stands still", "clock -1000000000; " + quorum + "granted v", told + "without an end, by its clock, which stands still, but its keys last for so long on only 0 of the 2"},
		{"over before it is returned", "acquire; granted v 0s; in 0s crash; 1s", ""},
		{"a value twice", quorum + granted + "; 1s; " + quorum + granted, "two leases have the same value, the second is c1's"},

		{"extended on a quorum", held + "extend v; PEXPIRE r 10000 on AB; " + extended, ""},
		{"extended on one node", held + "extend v; PEXPIRE r 10000 on A; " + extended, told + "until"},
		{"not extended for as long as was asked for", held + "extend v; PEXPIRE r 10000 on AB; moved v 900ms; returns; ends v lost", "c1's extend to 10s succeeded, but the lease ends"},
		{"an extend of a lease that has ended", quorum + "granted v; DEL r on AB; ended v lost; extend v; returns closed", ""},
		{"an extend that moves the end back", held + "extend v; moved v -3s; returns no-quorum; ends v lost", "an extend moved the end of c1's lease 3s back"},

		{"released on a quorum", quorum + "granted v; release v; ended v released; DEL r on AB; returns", ""},
		{"released on one node", quorum + "granted v; release v; ended v released; DEL r on A; returns", frees + "1 of the 2 nodes that it takes have deleted its key for it"},
		{"released on one node, and it says so", quorum + "granted v; release v; ended v released; DEL r on A; returns no-quorum", ""},
		{"released on no node, where the keys were deleted before", quorum + "granted v; DEL r on AB; release v; ended v released; returns", frees + "0 of the 2"},
	})
	t.Run("moved back by another lock than the library's", func(t *testing.T) {
		r := newRig(t)
		r.Lock = protocols.Settings{TTL: ttl}.With("redlock-plain")
		r.does("c1", held+"extend v; PEXPIRE r 5000 on AB; moved v -6s; returns; ends v lost")
		r.finds(t, checker.Contract, "")
	})
}

// A lease is of the name, and on the resources, that were asked for.
func TestALeaseIsNamed(t *testing.T) {
	for _, c := range []struct{ name, on, want string }{
		{"r", "r", ""},
		{"s", "r", `c1 asked for the lock on "r", and its lease is named "s"`},
		{"r", "s", `c1 asked for the lock on "r", and is given a lease on "s"`},
	} {
		r := newRig(t)
		r.goes("c1", 0, func(a *actor) {
			l := a.lease("v", a.reads().Add(ttl-102*time.Millisecond))
			l.name, l.on = c.name, []string{c.on}
			a.sets("AB", "v")
			a.call(protocols.AcquireCall, l, nil, nil)
			l.ends(a, redlock.ErrLost)
		})
		r.finds(t, checker.Contract, c.want)
	}
}

// At the very beginning of a run, without latency, everything happens at time zero.
func TestTimeZeroIsATime(t *testing.T) {
	r := newRig(t)
	r.Network.Each(func(l *network.Link) { l.SetLatency(network.Both, network.Constant(0)) })
	r.does("c1", "acquire; SET r v PX 10000 on AB; granted v; release v; ended v released; DEL r on AB; returns")
	r.finds(t, checker.Contract, "")
}
