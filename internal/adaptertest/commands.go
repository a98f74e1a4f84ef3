//go:build unix

package adaptertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// semantics is what commands do to a server.
var semantics = []step{
	{"", "acquire a", "accepted", "a=mine:30s", ""},
	{"b=theirs:20s", "acquire a", "accepted", "a=mine:30s b=theirs:20s", ""},
	{"a=theirs:20s", "acquire a", "declined", "a=theirs:20s", ""},
	{"a=theirs:forever", "acquire a", "declined", "a=theirs:forever", ""},
	{"a=mine:20s", "acquire a", "declined", "a=mine:20s", ""},
	{"a=list", "acquire a", "declined", "a=list", ""},
	{"", "acquire a b", "accepted", "a=mine:30s b=mine:30s", ""},
	{"a=theirs:20s", "acquire a b", "declined", "a=theirs:20s", ""},
	{"b=theirs:20s", "acquire a b", "declined", "b=theirs:20s", ""},
	{"b=mine:20s", "acquire a b", "declined", "b=mine:20s", ""},
	{"b=list", "acquire a b", "declined", "b=list", ""},
	{"a=mine:20s", "extend a", "accepted", "a=mine:30s", ""},
	{"a=mine:50s", "extend a", "accepted", "a=mine:50s", ""},
	{"a=mine:forever", "extend a", "accepted", "a=mine:30s", ""},
	{"", "extend a", "declined", "", ""},
	{"a=theirs:20s", "extend a", "declined", "a=theirs:20s", ""},
	{"a=list", "extend a", "failed", "a=list", ""},
	{"a=mine:20s b=mine:20s", "extend a b", "accepted", "a=mine:30s b=mine:30s", ""},
	{"a=mine:20s b=mine:50s", "extend a b", "accepted", "a=mine:30s b=mine:50s", ""},
	{"a=mine:20s", "extend a b", "declined", "a=mine:20s", ""},
	{"a=mine:20s b=theirs:20s", "extend a b", "declined", "a=mine:20s b=theirs:20s", ""},
	{"a=mine:20s b=list", "extend a b", "failed", "a=mine:20s b=list", ""},
	{"a=mine:20s", "release a", "accepted", "", ""},
	{"a=mine:20s b=mine:20s", "release a", "accepted", "b=mine:20s", ""},
	{"a=mine:forever", "release a", "accepted", "", ""},
	{"", "release a", "declined", "", ""},
	{"a=theirs:20s", "release a", "declined", "a=theirs:20s", ""},
	{"a=list", "release a", "failed", "a=list", ""},
	{"a=mine:20s b=mine:20s", "release a b", "accepted", "", ""},
	{"b=mine:20s", "release a b", "declined", "", ""},
	{"a=mine:20s b=theirs:20s c=mine:20s", "release a b c", "declined", "b=theirs:20s", ""},
	{"a=mine:20s b=list c=mine:20s", "release a b c", "failed", "b=list", ""},
	// Fencing.
	{"", "acquire a token=1", "accepted", "a=mine:30s #a=1:1m30s", ""},
	{"#a=5", "acquire a token=6", "accepted", "a=mine:30s #a=6:1m30s", ""},
	{"#a=5", "acquire a token=5", "behind 5", "#a=5", ""},
	{"#a=7 #b=9", "acquire a token=5", "behind 7", "#a=7 #b=9", ""},
	{"#a=9", "acquire a token=10", "accepted", "a=mine:30s #a=10:1m30s", ""},
	{"#a=9007199254740990", "acquire a token=9007199254740991", "accepted", "a=mine:30s #a=9007199254740991:1m30s", ""},
	{"#a=9007199254740991", "acquire a token=9007199254740990", "behind 9007199254740991", "#a=9007199254740991", ""},
	{"a=theirs:20s #a=5", "acquire a token=6", "declined 5", "a=theirs:20s #a=5", ""},
	{"a=theirs:20s #a=5", "acquire a token=5", "declined 5", "a=theirs:20s #a=5", ""},
	{"a=theirs:forever", "acquire a token=5", "declined", "a=theirs:forever", ""},
	{"a=list #a=2", "acquire a token=5", "declined 2", "a=list #a=2", ""},
	{"#a=x", "acquire a token=5", "failed", "#a=x", ""},
	// The second token of an attempt, which finds its own key.
	{"a=mine:20s #a=5", "acquire a token=6", "accepted", "a=mine:30s #a=6:1m30s", ""},
	{"a=mine:50s #a=5", "acquire a token=6", "accepted", "a=mine:50s #a=6:1m30s", ""},
	{"a=mine:forever", "acquire a token=6", "accepted", "a=mine:30s #a=6:1m30s", ""},
	{"a=mine:20s #a=6", "acquire a token=5", "behind 6", "a=mine:20s #a=6", ""},
	{"a=mine:50s b=mine:20s #a=5", "acquire a b token=6", "accepted", "a=mine:50s b=mine:30s #a=6:1m30s #b=6:1m30s", ""},
	// Several keys: all or nothing.
	{"#a=5", "acquire a b token=6", "accepted", "a=mine:30s b=mine:30s #a=6:1m30s #b=6:1m30s", ""},
	{"#a=5 #b=6", "acquire a b token=6", "behind 6", "#a=5 #b=6", ""},
	{"#a=8 #b=6", "acquire a b token=6", "behind 8", "#a=8 #b=6", ""},
	{"b=theirs:20s #a=5", "acquire a b token=6", "declined 5", "b=theirs:20s #a=5", ""},
	{"a=mine:20s b=theirs:20s #a=5", "acquire a b token=6", "declined 5", "a=mine:20s b=theirs:20s #a=5", ""},
	// The guard.
	{"guard=this,0,10s", "acquire a max=10s", "accepted", "a=mine:30s guard=this,0,10s", ""},
	{"guard=this,0,10s", "acquire a b max=10s", "accepted", "a=mine:30s b=mine:30s guard=this,0,10s", ""},
	{"a=theirs:20s guard=this,0,10s", "acquire a max=10s", "declined", "a=theirs:20s guard=this,0,10s", ""},
	{"a=mine:20s guard=this,0,10s", "acquire a max=10s", "declined", "a=mine:20s guard=this,0,10s", ""},
	{"", "acquire a max=10s", "in quarantine", "guard=this,now,10s", ""},
	{"a=theirs:20s", "acquire a max=10s", "in quarantine", "a=theirs:20s guard=this,now,10s", ""},
	{"guard=other,0,10s", "acquire a max=10s", "in quarantine", "guard=this,now,10s", ""},
	{"guard=other,-30s,10s", "acquire a max=10s watched", "in quarantine", "guard=this,now,10s", ""},
	{"guard=this,-1s,10s", "acquire a max=10s watched", "in quarantine", "guard=this,now,10s", ""},
	{"guard=this,-17s,20s", "acquire a max=20s watched", "in quarantine", "guard=this,-15s,20s", ""},
	{"guard=this,-30s,10s", "acquire a max=10s", "in quarantine", "guard=this,-30s,10s", ""},
	{"guard=this,-30s,10s", "acquire a max=10s stale", "in quarantine", "guard=this,-30s,10s", ""},
	{"guard=this,-11s,10s", "acquire a max=10s watched", "accepted", "a=mine:30s guard=this,0,10s", ""},
	{"a=theirs:20s guard=this,-11s,10s", "acquire a max=10s watched", "declined", "a=theirs:20s guard=this,0,10s", ""},
	{"guard=this,30s,10s", "acquire a max=10s watched", "in quarantine", "guard=this,30s,10s", ""}, // its clock stepped back
	{"guard=this,0,10s", "acquire a max=20s", "failed", "guard=this,0,10s", ""},
	{"guard=this,-30s,10s", "acquire a max=20s watched", "failed", "guard=this,-30s,10s", ""},
	{"guard=other,0,10s", "acquire a max=20s", "failed", "guard=other,0,10s", ""},
	{"guard=nonsense", "acquire a max=10s", "failed", "guard=nonsense", ""},
	// Both.
	{"#a=5 guard=this,0,10s", "acquire a token=6 max=10s", "accepted", "a=mine:30s #a=6:1m30s guard=this,0,10s", ""},
	{"#a=5 guard=this,0,10s", "acquire a b token=6 max=10s", "accepted", "a=mine:30s b=mine:30s #a=6:1m30s #b=6:1m30s guard=this,0,10s", ""},
	{"#a=5 guard=this,0,10s", "acquire a token=5 max=10s", "behind 5", "#a=5 guard=this,0,10s", ""},
	{"#a=5", "acquire a token=6 max=10s", "in quarantine", "#a=5 guard=this,now,10s", ""},
	// Preparing.
	{"", "prepare max=10s run=this", "accepted", "guard=this,0,10s", ""},
	{"guard=this,-1s,20s", "prepare max=10s run=this", "accepted", "guard=this,0,10s", ""},
	{"guard=other,0,20s", "prepare max=10s run=other", "declined", "guard=other,0,20s", ""},
	{"", "prepare max=10s", "declined", "", ""},
	{"guard=this,0,10s", "acquire a max=20s", "failed: redlock: the restart guard's largest TTL is 10s on the node and 20s in this client",
		"guard=this,0,10s", ""},
	{"guard=nonsense", "acquire a max=20s", "failed: redlock: redlock:guard is not a record of the restart guard", "guard=nonsense", ""},
}

// What commands do to a server, by themselves and behind another acquire under the guard, with which they are put to one vote.
func commands(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			b := newBench(t, a, server.start(t), Config{})
			b.steps(semantics...)
			for _, s := range semantics {
				_, words, isGuarded := strings.Cut(s.do, " max=")
				if !isGuarded || !strings.HasPrefix(s.do, "acquire") {
					continue
				}
				b.set(s.before)
				limit, _, _ := strings.Cut(words, " ")
				got := b.do("acquire z max=" + limit + "; " + s.do)[1]
				b.ask("del z")
				want, _, _ := strings.Cut(s.want, ": ")
				if after := b.get(); got.outcome != want || after != s.after {
					t.Errorf("%s, together, with %q: got %q, leaving %q; want %s, leaving %q", s.do, s.before, got, after, want, s.after)
				}
			}
		})
	}
}

// A batch does and answers what its commands would one after the other, whichever of them are joined.
func aBatchIsItsCommandsInOrder(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			whole, parts := newBench(t, a, server.start(t), Config{}), newBench(t, a, server.start(t), Config{})
			rapid.Check(t, func(rt *rapid.T) {
				before := rapid.SampledFrom([]string{"", "a=mine:20s b=theirs:20s", "a=list b=mine:20s c=mine:20s", "b=theirs:forever"}).Draw(rt, "before")
				batch := rapid.SliceOfN(rapid.SampledFrom([]string{
					"acquire a", "acquire b", "acquire c", "acquire a b", "release a", "release b", "release c", "release d", "release b c",
					"extend a", "extend b", "theirs acquire a", "theirs acquire c", "theirs release a", "theirs release c", "wake release b",
				}), 2, 12).Draw(rt, "batch")
				whole.set(before)
				parts.set(before)
				var apart []said
				for _, text := range batch {
					apart = append(apart, parts.do(text)...)
				}
				if together := whole.do(strings.Join(batch, "; ")); fmt.Sprint(together) != fmt.Sprint(apart) {
					rt.Errorf("%q: %q in a batch, %q one by one", batch, together, apart)
				}
				if got, want := whole.get(), parts.get(); got != want {
					rt.Errorf("%q leaves %q in a batch, %q one by one", batch, got, want)
				}
			})
		})
	}
}

// Which round trips batches take, with scripts that the server knows, does not know and has forgotten. The first acquire looks
// what the server allows, in the same round trip. A script is sent with its source at first, and is known then. What was
// forgotten is sent again with its source, and nothing else is. Releases go together, and so do acquires under the guard.
func roundTrips(t *testing.T, a Adapter) {
	const flush = "!script flush; "
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			addr := server.start(t)
			ForbidPlain(t, Admin(t, addr))
			b := newBench(t, a, addr, Config{})
			b.steps(
				step{"", flush + "acquire a", "accepted", "a=mine:30s", "eval"},
				step{"", flush + "acquire a", "accepted", "a=mine:30s", "set"},
				step{"a=mine:20s", "release a", "accepted", "", "eval"},
				step{"a=mine:20s", "release a", "accepted", "", "evalsha"},
				step{"a=theirs:20s b=mine:20s c=mine:20s", "acquire a; release b; extend c; acquire d e; release f; extend b",
					"declined; accepted; accepted; accepted; declined; declined", "a=theirs:20s c=mine:30s d=mine:30s e=mine:30s",
					"set | eval | eval | eval | eval"},
				step{"", "acquire a; extend a; release a; acquire a b; release a b; release a",
					"accepted; accepted; accepted; accepted; accepted; declined", "", "set | evalsha | evalsha | evalsha | evalsha | evalsha"},
				step{"b=mine:20s", flush + "acquire a; extend b", "accepted; accepted", "a=mine:30s b=mine:30s", "set | evalsha; eval"},
				step{"a=mine:20s b=mine:20s", "release a; extend b; release b", "accepted; accepted; accepted", "", "evalsha | evalsha | evalsha; eval"},
			)
			const guard = "guard=this,0,10s"
			b = newBench(t, a, addr, Config{})
			b.steps(
				step{guard, "acquire a token=1 max=10s", "accepted", "a=mine:30s #a=1:1m30s " + guard, "eval"},
				step{guard, "acquire a token=1 max=10s", "accepted", "a=mine:30s #a=1:1m30s " + guard, "evalsha"},
				step{guard, "prepare max=10s run=this", "accepted", guard, "eval"},
				step{guard, "prepare max=10s run=this", "accepted", guard, "evalsha"},
				step{guard, "acquire a max=10s; acquire c token=1; acquire b max=10s", "accepted; accepted; accepted",
					"a=mine:30s b=mine:30s c=mine:30s #c=1:1m30s " + guard, "eval | evalsha"},
				step{"b=theirs:20s " + guard, flush + "acquire a max=10s; acquire b max=10s; acquire c max=10s", "accepted; declined; accepted",
					"a=mine:30s b=theirs:20s c=mine:30s " + guard, "evalsha; eval"},
			)
		})
	}
}

// A release goes by the plain command that the first contact has found, and by a script in the same deadline once the server
// has it no more or forbids it, as an older one may do that took its place. It is carried out both times.
func plainReleaseFallsBack(t *testing.T, a Adapter) {
	for _, says := range []string{"ERR unknown command 'DELEX'", "NOPERM User locks has no permissions to run the 'delex' command"} {
		m := miniredis.RunT(t) // which has DELEX
		b := newBench(t, a, m.Addr(), Config{})
		release := func(sent string) step {
			return step{"a=mine:30s b=theirs:30s", "release a; release b", "accepted; declined", "b=theirs:30s", sent}
		}
		b.steps(step{"", "acquire z", "accepted", "z=mine:30s", "eval"}, release("delex | delex"))
		m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
			if command == "DELEX" {
				c.WriteError(says)
			}
			return command == "DELEX"
		})
		b.steps(release("delex | delex; eval"), release("evalsha"))
	}
}

// A server that keeps its keys in slots, as the proxy of a sharded service does, refuses a script for several of them. The
// commands that were joined in one are sent apart, within the same call, and so are all later ones.
func slotsApart(t *testing.T, a Adapter) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		switch isScript := command == "EVAL" || command == "EVALSHA"; {
		case command == "DELEX":
			c.WriteError("ERR unknown command 'DELEX'")
		case isScript && args[1] != "1":
			c.WriteError("CROSSSLOT Keys in request don't hash to the same slot")
		default:
			return false
		}
		return true
	})
	b := newBench(t, a, m.Addr(), Config{})
	for _, sent := range []string{"eval; eval | eval | eval", "evalsha | evalsha | evalsha"} {
		b.step(step{"a=mine:20s b=theirs:20s c=mine:20s", "release a; release b; release c", "accepted; declined; accepted", "b=theirs:20s", sent})
	}
}
