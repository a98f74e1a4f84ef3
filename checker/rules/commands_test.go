package rules

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

func (r *rig) patient() *rig {
	r.Lock.NodeTimeout = time.Second
	return r
}

// lateVote has a vote of C arrive after the release.
const lateVote = "SET r v on AB; takes C 300ms; meanwhile SET r v on C; 10ms; takes C 1ms; DEL r on ABC"

func TestConduct(t *testing.T) {
	const never, extends = "c1 releases its keys, but never the one on ", "c1 extends its key on B, although it has begun to release it"
	tell(t, checker.Conduct, func(t *testing.T) *rig { return newRig(t).patient() }, []scene{
		{"another deletes a key", "SET r v on A; 1s; c2 DEL r on A", "c2 deletes the key of c1 on A"},
		{"another changes a key", "SET r v on A; 1s; c2 SET r w on A", "c2 changes the key of c1 on A"},
		{"another asks for a key", "SET r v on A; 1s; c2 GET r on A", ""},
		{"it brings the end of its key forward", "SET r v PX 20000 on A; PEXPIRE r 5000 on A", "c1 brings the end of its key on A forward, by 1"},

		{"a release everywhere", "SET r v on AB; DEL r on ABC", ""},
		{"a release nowhere", "SET r v on AB", ""},
		{"a release not on C", "SET r v on ABC; DEL r on AB", never + "C"},
		{"a release not on C, which answers nothing any more", "SET r v on ABC; 1ms; DEL r on AB", ""},
		{"a release not on C, which answers", "SET r v on ABC; 1ms; DEL r on AB; 1s; SET r w NX on C", never + "C"},
		{"a release not on C, which answers much later", "SET r v PX 90000 on ABC; 1ms; DEL r on AB; 59s; SET r w NX on C", ""},
		{"a release not on C, where the key expires", "SET r v PX 4000 on ABC; 1ms; DEL r on AB; 1s; SET r w NX on C", ""},
		{"a release not on C, where the key expires later", "SET r v PX 4010 on ABC; 1ms; DEL r on AB; 1s; SET r w NX on C", never + "C"},
		{"a release not where it has no key", "SET r v on AB; DEL r on AB", ""},
		{"a crash before a release on C", "SET r v on ABC; DEL r on AB; in 0s crash; 1s", ""},
		{"a crash much later", "in 20s crash; in 20s start; SET r v on AB; DEL r on A", never + "B"},
		{"a pause before a release on C", "SET r v on ABC; DEL r on AB; in 1s pause; 2s", ""},
		{"a pause at once", "in 100ms pause; in 100ms resume; SET r v on AB; DEL r on A", ""},
		{"a pause much later", "in 20s pause; in 20s resume; SET r v on AB; DEL r on A", never + "B"},
		{"a late vote", lateVote, "c1 hears after its release that C has its key"},
		{"a late vote taken back", strings.Replace(lateVote, "v on C", "v on C then DEL r on C", 1), ""},
		{"a value that is used again", "SET r v on AB; DEL r on AB; 1s; SET r v on ABC", ""},

		{"an extend before a release", "SET r v on AB; PEXPIRE r 20000 on B; DEL r on AB", ""},
		{"an extend after a release", "SET r v on AB; DEL r on A; PEXPIRE r 20000 on B; DEL r on B", extends},
	})
}

// A fencing counter is nobody's: each client that gets a vote raises it, and it stays when the lock is released.
func TestCountersAreNobodys(t *testing.T) {
	r := newRig(t, func(own *protocols.RedlockSettings) { own.Fencing = true }).patient()
	r.does("c1", "SET redlock:token:r 1 on ABC; 1s; c2 SET redlock:token:r 2 on ABC")
	r.finds(t, checker.Conduct, "")
}

// The answer to one of several commands that were sent together may be too late where only the deadline of all is known. Or it
// may be missing, if the connection breaks behind those to others.
func TestAnAnswerToOneOfSeveralMayBeTooLate(t *testing.T) {
	const heard = "c1 hears after its release that C has its key"
	for _, c := range []struct {
		name  string
		makes func(*redis.Asked)
		want  string
	}{
		{"the only one", func(*redis.Asked) {}, heard},
		{"too late, perhaps", func(a *redis.Asked) { a.Latest = true }, ""},
		{"answered", func(a *redis.Asked) { a.Together, a.Answer = 3, driver.Accepted }, heard},
		{"not answered", func(a *redis.Asked) { a.Together, a.Answer = 3, driver.Unanswered }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := unwatched(t, nil, newRig(t).plain()).patient()
			trace.On(r.World.Events, c.makes) // before the rules are told of it
			r.Watch()
			r.does("c1", lateVote)
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// Code that takes time may read an answer after the deadline although it came before that. Nothing says then that the vote
// counts.
func TestAnAnswerNearTheDeadlineMayBeTooLate(t *testing.T) {
	for _, c := range []struct {
		step time.Duration
		want string
	}{
		{0, "c1 hears after its release that C has its key"},
		{100 * time.Millisecond, "c1 hears after its release that C has its key"},
		{120 * time.Millisecond, ""},
	} {
		t.Run(c.step.String(), func(t *testing.T) {
			r := newRig(t).patient()
			r.StepTime = c.step
			r.does("c1", lateVote) // C answers 699ms before the deadline, after the release
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

func TestCommandsAreForTheLockAndInTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		late  time.Duration
		want  string
	}{
		{"in time", []string{"SET", "r", "v"}, -1, ""},
		{"late", []string{"SET", "r", "v"}, time.Second, "c1 sends a command to A 1s after it has stopped waiting for the answer"},
		{"a late release", []string{"DEL", "r"}, time.Second, ""},
		{"another key", []string{"SET", "lock", "v"}, -1, `c1 sends a command to A about "lock", which is no key of the lock`},
		{"a counter without fencing", []string{"SET", "redlock:token:r", "1"}, -1, `c1 sends a command to A about "redlock:token:r", which is no key of the lock`},
		{"a record without the guard", []string{"SET", "redlock:guard", "x"}, -1, `c1 sends a command to A about "redlock:guard", which is no key of the lock`},
		{"what is no lock's business", []string{"INCR", "number"}, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", time.Minute/2, func(a *actor) {
				a.Conns(a.client)[0].Do(a.Kernel.Draw("test"), a.reads().Add(-c.late), rediscmd.Request{Args: c.words})
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// A client that has not heard of a failover addresses a node that was a master. No client was told to address a replica that
// never was one.
func TestOnlyWhoWasNeverAMasterIsAWrongAddress(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*rig)
		want    string
	}{
		{"a replica", func(r *rig) { r.Network.Link("c1", "A").Redirect(r.Network.Link("c1", "A2")) },
			"c1 sends a command to A2, a replica that has never been a master"},
		{"its successor", func(r *rig) { r.promote(t, "A", "A2", "c1") }, ""},
		{"a master that became a replica, and nobody told", func(r *rig) {
			r.promote(t, "A", "A2", "c2")
			r.restart(t, "A")
			if !r.Server("A").IsReplica() {
				t.Error("A is no replica")
			}
		}, ""},
		{"a master that became a replica, by one who was told of it before", func(r *rig) {
			r.promote(t, "A", "A2", "c1")
			r.restart(t, "A")
			r.promote(t, "A2", "A", "c2")
			r.restart(t, "A2")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigOf(t, map[string][]string{"A": {"A2"}}).patient()
			r.Kernel.After(time.Second, func() { c.happens(r) })
			r.goes("c1", 2*time.Second, func(a *actor) { a.sets("A", "v") })
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

func (r *rig) restart(t *testing.T, node string) {
	if err := cmp.Or(r.Server(node).Kill(), r.Server(node).Restart()); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) promote(t *testing.T, node, replica, client string) {
	if err := r.Promote(r.Server(replica)); err != nil {
		t.Fatal(err)
	}
	r.Lead(r.Client(client), node, replica)
}

// The file may say how many commands a run needs.
func TestNoCommandIsOneTooMany(t *testing.T) {
	tell(t, checker.Conduct, func(t *testing.T) *rig { return newRig(t).only("commands", func(r *Run) { r.MaxCommands = 3 }) }, []scene{
		{"three of three", "SET r v on ABC", ""},
		{"three of three, and two releases again", "SET r v on A; DEL r on AB; DEL r on A; 1s; DEL r on A", ""},
		{"four of three, of which two are releases on two nodes", "SET r v on AB; DEL r on AB", "c1 sends a command to B to delete r, number 4 of a run that needs no more than 3"},
		{"four of three", "SET r v on ABC; PEXPIRE r 20000 on A", "c1 sends a command to A to extend r, number 4 of a run that needs no more than 3"},
	})
}

// A program that has made a connection not long ago may have had a command wait for it.
func TestConnectionsOfPrograms(t *testing.T) {
	for after, want := range map[string]string{"9s": "", "11s": "c1 extends its key on A, although it has begun to release it"} {
		r := newRig(t).only("commands", func(r *Run) { r.Foreign, r.Declared = true, true })
		r.does("c1", "SET r v NX PX 60000 on AB; DEL r on B; tried A; "+after+"; PEXPIRE r 60000 on A")
		r.finds(t, checker.Conduct, want)
	}
}

// A program that has neither a call nor a lease sends nothing more, once what it has to tidy up is over.
func TestIdlePrograms(t *testing.T) {
	const idle = "c1 sends a command to C"
	tell(t, checker.Conduct, func(t *testing.T) *rig {
		return newRig(t).only("commands", func(r *Run) { r.Foreign, r.Declared = true, true })
	}, []scene{
		{"soon after a refusal", "acquire; returns taken; 10s; DEL r on C", ""},
		{"long after a refusal", "acquire; returns taken; 20s; DEL r on C", idle},
		{"in a call", "acquire; returns taken; 20s; acquire; SET r v PX 10000 on C", ""},
		{"under a lease", "acquire; SET r v PX 60000 on ABC; granted v 60s; 30s; PEXPIRE r 60000 on C", ""},
		{"long after a lease", "acquire; SET r v PX 60000 on ABC; granted v; expired; 30s; PEXPIRE r 60000 on C", idle},
		{"after a pause", "acquire; returns taken; in 1s pause; in 15s resume; 20s; DEL r on C", ""},
		{"after a crash", "acquire; returns taken; in 0s crash; 20s; DEL r on C", ""},
	})
}

// A program need not release a key again and again that is gone.
func TestRepeatedReleases(t *testing.T) {
	const again = "; DEL r on AB"
	tell(t, checker.Conduct, func(t *testing.T) *rig {
		return newRig(t).only("commands", func(r *Run) { r.Foreign, r.Declared = true, true })
	}, []scene{
		{"twenty times", "acquire; SET r v on AB" + strings.Repeat(again, mostRepeats), ""},
		{"once more", "acquire; SET r v on AB" + strings.Repeat(again, mostRepeats+1), "c1 goes on releasing its key on A"},
		{"for each of many attempts", "acquire" + strings.Repeat("; SET r v on AB; DEL r on AB", 2*mostRepeats), ""},
		{"of what was never set", "acquire" + strings.Repeat("; DEL r on AB", 2*mostRepeats), ""},
	})
}

// What a script wants is told by what it calls.
func TestScriptsAreUnderstood(t *testing.T) {
	release := &rediscmd.Script{Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`}
	r := newRig(t).patient()
	r.goes("c1", 0, func(a *actor) {
		a.sets("AB", "v")
		a.Conns(a.client)[0].Do(a.Kernel.Draw("test"), a.reads().Add(time.Second), rediscmd.Request{Script: release, Keys: []string{"r"}, Argv: []string{"v"}})
	})
	r.finds(t, checker.Conduct, "c1 releases its keys, but never the one on B")
}

var _ protocols.Voted = (*lease)(nil)
