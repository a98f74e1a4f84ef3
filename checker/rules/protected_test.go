package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/lockkeys"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

// stage is a world of two clients, a and b, whose messages take no time, in which what happens is told in sentences.
type stage struct {
	*sim.World
	*Run
	t    *testing.T
	sent uint64
}

// newStage is one with five nodes, A to E, if the nodes are not given.
func newStage(t *testing.T, cfg sim.Config, run Run) *stage {
	if cfg.Nodes == nil {
		cfg.Nodes = []string{"A", "B", "C", "D", "E"}
	}
	cfg.Clients = []sim.ClientConfig{{Name: "a"}, {Name: "b"}}
	w := sim.NewWorld(cfg, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	run.World, run.Resources = w, []string{"r", "s"}
	w.LockOf = lockkeys.Of(nil, run.Resources).Of
	run.Watch()
	return &stage{World: w, Run: &run, t: t}
}

// plays has happen what sentences tell, with a semicolon between two, up to a time. One may begin with when it happens; it may
// be a command of a client on nodes, such as "2s b DEL r on CD", or what act knows.
func (s *stage) plays(sentences string, until time.Duration) {
	s.t.Helper()
	for sentence := range strings.SplitSeq(sentences, "; ") {
		words := strings.Fields(sentence)
		if len(words) > 0 {
			if at, err := time.ParseDuration(words[0]); err == nil {
				s.Kernel.Run(kernel.True(at))
				words = words[1:]
			}
		}
		if on := slices.Index(words, "on"); on > 0 {
			for _, node := range words[on+1] {
				s.sends(words[0], string(node), words[1:on]...)
			}
		} else if len(words) > 0 {
			s.acts(words[0], append(words[1:], "", "")...)
		}
	}
	s.Kernel.Run(kernel.True(until))
}

func (s *stage) sends(client, node string, command ...string) {
	p := s.Client(client)
	for _, c := range s.Conns(p) {
		if c.Node() == node {
			s.sent++
			key := s.Kernel.Draw("test").With(s.sent)
			p.Go(func() { c.Do(key, p.ProgramClock().Now().Add(time.Hour), rediscmd.Request{Args: command}) })
		}
	}
	s.Kernel.Run(s.Kernel.Now())
}

// acts is what client a is told, what it tells of grants, which have numbers, and what happens to clients and nodes.
func (s *stage) acts(does string, to ...string) {
	var number int
	_, _ = fmt.Sscan(to[0], &number)
	var err error
	told := history.Event{Process: "a", Grant: number, Resource: "r"}
	switch does {
	case "granted": // its number, the resource, and that of a call that it is a part of
		told.Kind, told.Func, told.Outcome, told.Op, told.Resource = history.Return, history.Acquire, history.OK, number, to[1]
		_, _ = fmt.Sscan(to[2], &told.With)
	case "releases":
		told.Kind, told.Func, told.Op = history.Call, history.Release, 100+number
	case "expired":
		told.Kind = history.Expire
	case "lost", "extended", "release-started":
		told.Kind, told.Name = history.Step, does
	case "crash":
		err = s.Crash(s.Client(to[0]))
	case "resume": // which is told before it happens
		s.Record(history.Event{Kind: history.Fault, Name: does, Node: to[0]})
		s.Server(to[0]).Resume()
	default:
		if err = faults(s.World, "a", does, to[0], to[1]); err == nil {
			s.Record(history.Event{Kind: history.Fault, Name: does, Node: to[0]})
		}
	}
	if err != nil {
		s.t.Fatalf("%s %s: %v", does, to, err)
	}
	if told.Kind != "" {
		s.Record(told)
	}
}

// finds compares the findings of beliefs, each with its stretch of time.
func (s *stage) finds(want string) {
	s.t.Helper()
	var all []string
	for _, f := range s.Findings() {
		if f.Kind == checker.Unprotected {
			all = append(all, fmt.Sprintf("%s %v-%v", f.Resource, f.From, f.To))
		}
	}
	if got := strings.Join(all, ", "); got != want {
		s.t.Errorf("found %q, want %q", got, want)
	}
}

// heldByA has client a hold the lock on A, B and C for 10 s, from the beginning.
const heldByA = "a SET r a PX 10000 on ABC; granted 1 r; "

// Nothing is said of the end of a's belief: then it is that of the run, after 8 s. Redis expires a key a millisecond after its
// time to live.
func TestUnprotected(t *testing.T) {
	for _, c := range []struct{ name, happens, want string }{
		{"a quorum has the key", "", ""},
		{"a node more has it, and one loses it", "a SET r a PX 10000 on D; 2s a DEL r on C", ""},
		{"a node loses it", "2s b DEL r on C", "r 2s-8s"},
		{"a node loses it and gets it at once", "2s b DEL r on C; a SET r a PX 10000 on C", ""},
		{"a node loses it and gets it later", "2s b DEL r on C; 3s a SET r a PX 10000 on C", "r 2s-3s"},
		{"a node gives it to another at once", "2s b DEL r on C; b SET r b PX 10000 on C", ""},
		{"a node gave it to another, whose key runs out", "2s b DEL r on C; b SET r b PX 1000 on C; 5s", "r 3.001s-8s"},
		{"it is another key", "2s b DEL s on C", ""},
		{"the key runs out sooner", "b PEXPIRE r 3000 on C", "r 3.001s-8s"},
		{"the key runs out before it is set", "b PEXPIRE r 3000 on C; 3.001000001s a SET r a PX 10000 on C", "r 3.001s-3.001000001s"},
		{"the key runs out as it is set", "b PEXPIRE r 3000 on C; 3.001s a SET r a PX 10000 on C", ""},
		{"the belief ends with the key: a release", "b PEXPIRE r 3000 on C; 3.001s releases 1", ""},
		{"the belief ends after the key: a release", "b PEXPIRE r 3000 on C; 3.001000001s releases 1", "r 3.001s-3.001000001s"},
		{"the belief ends with the key: a release inside of Hold", "b PEXPIRE r 3000 on C; 3.001s release-started 1", ""},
		{"the belief ends with the key: a loss", "b PEXPIRE r 3000 on C; 3.001s lost 1", ""},
		{"the belief ends with the key: a crash", "b PEXPIRE r 3000 on C; 3.001s crash a", ""},
		{"the belief ends with the key: an expiry", "b PEXPIRE r 3000 on C; 3.001s expired 1", ""},
		{"others' ends, and other steps, end nothing", "2s releases 2; expired 2; lost 2; extended 1; crash b; a DEL r on C", "r 2s-8s"},
		{"a grant whose belief was over before", "expired 2; granted 2 s", ""},
		{"a grant without a quorum", "1s a SET s a PX 10000 on AB; granted 2 s", "s 1s-8s"},
		{"one of several resources, with the call's own end",
			"a SET s a PX 10000 on ABC; granted 2 r 2; granted 3 s 2; releases 1; 2s b DEL s on C; 3s release-started 2", "s 2s-3s"},
		{"a node that is down", "2s kill C", ""},
		{"a node that comes back without its memory", "2s kill C; 3s restart C", "r 3s-8s"},
		{"of the free nodes one is down", "kill E; 2s b DEL r on C", ""},
		{"of the free nodes one is paused, and goes on", "pause-node E; 2s b DEL r on C; 3s resume E", "r 3s-8s"},
		{"a node's clock steps", "2s steps C 5s", "r 5.001s-8s"},
		{"a node's clock steps beyond the key", "2s steps C 9s", "r 2s-8s"},
		{"a node's clock steps back after the key has run out", "b PEXPIRE r 3000 on C; 4s steps C -2s; 4.5s releases 1", "r 3.001s-4s"},
		{"a node's clock steps beyond the key, and back at once", "2s steps C 9s; steps C -9s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, sim.Config{}, Run{Lock: protocols.Default()})
			s.plays(heldByA+c.happens, 8*time.Second)
			s.finds(c.want)
		})
	}
}

// A node with the restart guard would vote only with a record of its present run, without quarantine.
func TestUnprotectedAndTheGuard(t *testing.T) {
	for _, c := range []struct {
		name   string
		record func(run string) string
		want   string
	}{
		{"no record", func(string) string { return "" }, ""},
		{"of another run", func(run string) string { return "0" + run[1:] + " 0 10000" }, ""},
		{"in quarantine", func(run string) string { return run + " 1000 10000" }, ""},
		{"fit to vote", func(run string) string { return run + " 0 10000" }, "r 3s-8s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, sim.Config{}, Run{Lock: redlockWith(guarded)})
			for _, server := range s.Servers {
				s.sends("a", server.Name(), "SET", driver.GuardKey, server.RunID()+" 0 10000")
			}
			s.plays(heldByA+"2s kill C; restart C", 3*time.Second)
			if record := c.record(s.Server("C").RunID()); record != "" {
				s.sends("b", "C", "SET", driver.GuardKey, record)
			}
			s.plays("", 8*time.Second)
			s.finds(c.want)
		})
	}
}

// A node whose fencing counter is ahead of what votes have made it may have no vote.
func TestUnprotectedAndCounters(t *testing.T) {
	for counter, want := range map[string]string{"7": "r 2s-8s", "8": ""} {
		s := newStage(t, sim.Config{}, Run{Lock: redlockWith(func(own *protocols.RedlockSettings) { own.Fencing = true })})
		s.plays("a SET "+driver.TokenKey("r")+" 7 on ABCDE; "+heldByA, 2*time.Second)
		s.Server("D").Put(redis.Record{Key: driver.TokenKey("r"), Value: counter})
		s.Record(history.Event{Kind: history.Fault, Name: "set-counters", Node: "D"})
		s.plays("b DEL r on C", 8*time.Second)
		s.finds(want)
	}
}

// The finding says who believed and until when, and what became of the key on each node.
func TestUnprotectedInWords(t *testing.T) {
	s := newStage(t, sim.Config{}, Run{Lock: protocols.Default()})
	s.plays(heldByA+"b SET r b PX 1000 on D; b PEXPIRE r 3000 on AB; 2s b DEL r on C; 4s releases 1", 4*time.Second)
	all := s.Findings() // b deletes and changes what a has set, too
	f := all[slices.IndexFunc(all, func(f checker.Finding) bool { return f.Kind == checker.Unprotected })]
	want := `a (grant 1) believes in its lock on "r" until 4s, but from 2s on C, D and E of 5 nodes would grant it to another: ` +
		`its key was deleted by b on C and was never set on D and E.`
	if f.Text != want {
		t.Errorf("%s, want\n%s", f.Text, want)
	}
	got := fmt.Sprint(f.Windows, f.Seqs, f.FromSeq, f.ToSeq, f.Count)
	if want := "[{a 1 1 2 0s 4s}] [1 2] 1 2 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Where a service has the lock, where the lock is the caller's own and where replicas confirm votes or take a node's place
// nothing is looked at.
func TestUnprotectedIsForVotes(t *testing.T) {
	one := sim.Config{Nodes: []string{"A"}}
	for _, c := range []struct {
		name  string
		cfg   sim.Config
		run   Run
		finds bool
	}{
		{"redlock", sim.Config{}, Run{Lock: protocols.Default()}, true},
		{"redlock-plain", sim.Config{}, Run{Lock: lockOf("redlock-plain")}, true},
		{"redisson-multi", sim.Config{}, Run{Lock: lockOf("redisson-multi")}, true},
		{"single", one, Run{Lock: lockOf("single")}, true},
		{"db-row", one, Run{Lock: lockOf("db-row")}, false},
		{"foreign", sim.Config{}, Run{Lock: protocols.Default(), Foreign: true}, false},
		{"replicas", sim.Config{Nodes: []string{"A"}, Replicas: map[string][]string{"A": {"A2"}}}, Run{Lock: protocols.Default()}, true},
		{"votes that replicas confirm", sim.Config{Nodes: []string{"A"}, Replicas: map[string][]string{"A": {"A2"}}},
			Run{Lock: redlockWith(func(own *protocols.RedlockSettings) { own.Replicas = 1 })}, false},
		{"a failover", sim.Config{Nodes: []string{"A"}, Replicas: map[string][]string{"A": {"A2"}}}, Run{Lock: protocols.Default(), FailsOver: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, want := newStage(t, c.cfg, c.run), ""
			s.plays("granted 1 r", time.Second)
			if c.finds {
				want = "r 0s-1s"
			}
			if s.finds(want); s.Watched["protected"] > 0 != c.finds {
				t.Errorf("looked at %d times", s.Watched["protected"])
			}
		})
	}
}
