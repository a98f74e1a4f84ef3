package redis_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

// oneNode is a node A without latency, and a client c that sends commands to it.
type oneNode struct {
	*sim.World
	*redis.Server
	replies []string
}

func newOneNode(t *testing.T, p redis.Persistence) *oneNode {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Persistence: p, SnapshotEvery: time.Second, Clients: []sim.ClientConfig{{Name: "c"}}}, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &oneNode{World: w, Server: w.Server("A")}
}

// at has f called at a true time in seconds.
func (n *oneNode) at(seconds float64, f func()) {
	n.Kernel.After(time.Duration(seconds*1e9+0.5), f)
}

func (n *oneNode) send(op driver.Op, ttl time.Duration, keys ...string) {
	n.Nodes(n.Client("c"))[0].Do([]*driver.Command{{Op: op, Keys: keys, Value: "v", TTL: ttl, Round: len(n.replies),
		Deadline: n.Client("c").ProgramClock().Now().Add(time.Hour),
		Done:     func(_ *driver.Command, r driver.Reply) { n.replies = append(n.replies, r.Outcome.String()) }}})
}

func (n *oneNode) set(key string, ttl time.Duration) func() {
	return func() { n.send(driver.OpAcquire, ttl, key) }
}

func (n *oneNode) must(t *testing.T, f func() error) func() {
	return func() {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
}

func (n *oneNode) keys() string {
	var keys []string
	for _, r := range n.Dump() {
		keys = append(keys, r.Key)
	}
	return strings.Join(keys, " ")
}

func TestWhatIsLeftAfterARestart(t *testing.T) {
	kill, power, shutdown := (*redis.Server).Kill, (*redis.Server).LosePower, (*redis.Server).Shutdown
	for _, test := range []struct {
		persistence redis.Persistence
		stop        func(*redis.Server) error
		name, state string
		want        string
	}{
		{redis.NoPersistence, kill, "kill", "refusing", ""},
		{redis.NoPersistence, power, "power-loss", "off", ""},
		{redis.NoPersistence, shutdown, "shutdown", "refusing", ""},
		{redis.EverySecond, kill, "kill", "refusing", "early late"},
		{redis.EverySecond, power, "power-loss", "off", "early"},
		{redis.EverySecond, shutdown, "shutdown", "refusing", "early late"},
		{redis.Snapshots, kill, "kill", "refusing", "early"},
		{redis.Snapshots, power, "power-loss", "off", "early"},
		{redis.Snapshots, shutdown, "shutdown", "refusing", "early late"},
		{redis.Always, kill, "kill", "refusing", "early late"},
		{redis.Always, power, "power-loss", "off", "early late"},
		{redis.Always, shutdown, "shutdown", "refusing", "early late"},
	} {
		t.Run(fmt.Sprint(test.persistence, " ", test.name), func(t *testing.T) {
			n := newOneNode(t, test.persistence)
			stop := func() error { return test.stop(n.Server) }
			n.at(0.1, n.set("gone", 500*time.Millisecond))
			n.at(0.5, n.set("early", 10*time.Second))
			n.at(1.5, n.set("late", 10*time.Second))
			n.at(1.7, func() {
				if err := n.Restart(); err == nil || !strings.Contains(err.Error(), "node A is up") {
					t.Errorf("restart of a node that is up: %v", err)
				}
			})
			n.at(1.7, n.must(t, stop))
			n.at(1.7, func() {
				if n.State() != test.state || n.Up() || n.keys() != "" {
					t.Errorf("it is %s and has %q", n.State(), n.keys())
				}
				if err := stop(); err == nil || !strings.Contains(err.Error(), test.name+": node A is down already") {
					t.Errorf("stopped twice: %v", err)
				}
			})
			n.at(2.5, n.set("lost", 10*time.Second))
			n.at(3, n.must(t, n.Restart))
			n.Kernel.Run(kernel.True(3 * time.Second))
			if n.keys() != test.want || len(n.OnDisk()) != len(strings.Fields(test.want)) || n.State() != "up" || !n.Up() {
				t.Errorf("left: %q, %d on disk, %s", n.keys(), len(n.OnDisk()), n.State())
			}
			want := "accepted accepted accepted refused"
			if test.state == "off" {
				want = "accepted accepted accepted"
			}
			if got := strings.Join(n.replies, " "); got != want {
				t.Errorf("replies: %s", got)
			}
		})
	}
}

// TestFsyncNeedsTheProcess: a process that is paused makes no fsync, makes what is due when it goes on, and what a killed one
// has left is durable a second after the start.
func TestFsyncNeedsTheProcess(t *testing.T) {
	pause, resume := (*redis.Server).Pause, (*redis.Server).Resume
	kill := func(s *redis.Server) { _ = s.Kill() }
	shutdown := func(s *redis.Server) { _ = s.Shutdown() }
	start := func(s *redis.Server) { _ = s.Restart() }
	type step struct {
		at float64
		do func(*redis.Server)
	}
	for _, test := range []struct {
		name  string
		steps []step
		loss  float64
		kept  bool
	}{
		{"paused before the second", []step{{0.7, pause}}, 1.5, false},
		{"for long", []step{{0.7, pause}}, 100, false},
		{"at the second", []step{{1, pause}}, 1.5, true},
		{"and resumed", []step{{0.7, pause}, {1.2, resume}}, 1.3, true},
		{"and resumed before", []step{{0.7, pause}, {0.8, resume}}, 0.9, false},
		{"paused twice", []step{{0.7, pause}, {1.2, resume}, {1.3, pause}}, 1.5, true},
		{"killed while paused", []step{{0.7, pause}, {1.5, kill}, {2, start}}, 2.9, false},
		{"killed", []step{{0.7, kill}, {0.8, start}}, 1.7, false},
		{"a second after the start", []step{{0.7, kill}, {0.8, start}}, 1.8, true},
		{"down for long", []step{{0.7, kill}, {50, start}}, 50.9, false},
		{"killed after the second", []step{{1.1, kill}, {1.2, start}}, 1.3, true},
		{"killed twice", []step{{0.7, kill}, {0.8, start}, {0.9, kill}, {1, start}}, 1.9, false},
		{"shut down", []step{{0.7, shutdown}, {0.8, start}}, 0.9, true},
	} {
		n := newOneNode(t, redis.EverySecond)
		n.at(0.5, n.set("k", time.Hour))
		for _, s := range test.steps {
			n.at(s.at, func() { s.do(n.Server) })
		}
		n.at(test.loss, n.must(t, n.LosePower))
		n.Kernel.Run(kernel.True(test.loss*1e9 + 0.5))
		n.must(t, n.Restart)()
		if kept := n.keys() == "k"; kept != test.kept {
			t.Errorf("%s, power loss at %vs: kept %v", test.name, test.loss, kept)
		}
	}
}

// TestFsyncEverySecond: it covers what was written before, not at, the full second, counted from the start of the node.
func TestFsyncEverySecond(t *testing.T) {
	for _, test := range []struct {
		write, loss float64
		kept        bool
	}{
		{0.5, 0.999999999, false}, {0.5, 1, true}, {0.999999999, 1, true}, {1, 1.5, false}, {1, 1.999999999, false}, {1, 2, true},
		{1.5, 5.5, true}, {5.1, 5.9, false}, {0, 0, false}, {0, 1, true},
	} {
		for _, restarted := range []float64{0, 3.3} {
			n := newOneNode(t, redis.EverySecond)
			if restarted > 0 {
				n.at(0.2, n.must(t, n.Kill))
				n.at(restarted, n.must(t, n.Restart))
			}
			n.at(restarted+test.write, n.set("k", time.Hour))
			n.at(restarted+test.loss, func() {})
			n.Kernel.Run(kernel.True((restarted+test.loss)*1e9 + 0.5))
			n.must(t, n.LosePower)()
			n.must(t, n.Restart)()
			if kept := n.keys() == "k"; kept != test.kept {
				t.Errorf("started at %v, written %v s later, power lost %v s later: kept %v", restarted, test.write, test.loss, kept)
			}
		}
	}
}

// TestSnapshots: there is one once a key has changed and the last is a second old, or the start; of what changed after it, a
// process that is killed forgets everything. What is read back has its deadlines, and times count from the start again.
func TestSnapshots(t *testing.T) {
	set := func(key string, ttl time.Duration) func(*oneNode) { return func(n *oneNode) { n.set(key, ttl)() } }
	hour := func(key string) func(*oneNode) { return set(key, time.Hour) }
	release := func(key string) func(*oneNode) { return func(n *oneNode) { n.send(driver.OpRelease, 0, key) } }
	again := func(n *oneNode) { _, _ = n.Kill(), n.Restart() }
	type step struct {
		at float64
		do func(*oneNode)
	}
	for _, x := range []struct {
		name  string
		steps []step
		kill  float64
		want  string
	}{
		{"before the second", []step{{0.5, hour("a")}}, 0.999, ""},
		{"at the second", []step{{0.5, hour("a")}}, 1, "a"},
		{"written at the second", []step{{0.5, hour("a")}, {1, hour("b")}}, 1.999, "a"},
		{"a second later", []step{{0.5, hour("a")}, {1, hour("b")}}, 2, "a b"},
		{"the first change for long", []step{{5, hour("a")}, {5.1, hour("b")}, {5.9, hour("c")}}, 5.95, "a"},
		{"and what came after it", []step{{5, hour("a")}, {5.1, hour("b")}, {5.9, hour("c")}}, 6, "a b c"},
		{"nothing has changed by an attempt in vain", []step{{0.5, hour("a")}, {3, hour("a")}, {3.2, hour("b")}}, 3.3, "a b"},
		{"a release", []step{{0.5, hour("a")}, {1.5, release("a")}, {1.6, hour("b")}}, 1.9, "a"},
		{"a deadline", []step{{0.5, set("a", time.Second)}}, 1.6, ""},
		{"killed twice", []step{{0.5, hour("a")}, {1.5, hour("b")}, {1.7, again}, {2.5, hour("c")}}, 2.6, "a"},
		{"a second after the start", []step{{0.5, hour("a")}, {1.5, hour("b")}, {1.7, again}, {2.5, hour("c")}}, 2.7, "a c"},
		{"paused", []step{{0.5, hour("a")}, {0.7, func(n *oneNode) { n.Server.Pause() }}}, 5, ""},
	} {
		n := newOneNode(t, redis.Snapshots)
		for _, s := range x.steps {
			n.at(s.at, func() { s.do(n) })
		}
		n.at(x.kill, n.must(t, n.Kill))
		n.Kernel.Run(kernel.True(x.kill*1e9 + 0.5))
		n.must(t, n.Restart)()
		if n.keys() != x.want {
			t.Errorf("%s, killed at %vs: %q, want %q", x.name, x.kill, n.keys(), x.want)
		}
	}
}

// TestFsyncCoversReleases: what power loss brings back is the state of the last fsync, with keys deleted since and without
// those that replaced them.
func TestFsyncCoversReleases(t *testing.T) {
	n := newOneNode(t, redis.EverySecond)
	n.at(0.5, n.set("old", time.Hour))
	n.at(1.2, func() { n.send(driver.OpRelease, 0, "old") })
	n.at(1.3, n.set("new", time.Hour))
	n.at(1.8, n.must(t, n.LosePower))
	n.at(1.9, n.must(t, n.Restart))
	n.at(1.95, n.must(t, n.LosePower))
	n.at(2, n.must(t, n.Restart))
	n.Kernel.Run(kernel.True(2 * time.Second))
	if n.keys() != "old" {
		t.Errorf("left: %q", n.keys())
	}
}

// TestDeadlinesRunOnWhileDown: they are absolute, by the node's wall clock.
func TestDeadlinesRunOnWhileDown(t *testing.T) {
	for _, test := range []struct {
		up   float64
		step time.Duration
		want string
	}{{1, 0, "k"}, {1.5, 0, "k"}, {1.501, 0, ""}, {9, 0, ""}, {1, 501 * time.Millisecond, ""}, {9, -8 * time.Second, "k"}} {
		n := newOneNode(t, redis.Always)
		n.at(0.5, n.set("k", time.Second))
		n.at(0.6, n.must(t, n.Kill))
		n.at(0.7, func() { n.Server.Clock().Step(test.step) })
		n.at(test.up, n.must(t, n.Restart))
		n.Kernel.Run(kernel.True(test.up*1e9 + 0.5))
		if n.keys() != test.want {
			t.Errorf("up at %v after a step of %v: %q", test.up, test.step, n.keys())
		}
	}
}

func TestKilledWhilePaused(t *testing.T) {
	n := newOneNode(t, redis.EverySecond)
	n.at(0.5, n.set("early", time.Hour))
	n.at(2, n.Server.Pause)
	n.at(2.1, n.set("buffered", time.Hour))
	n.at(2.5, n.must(t, n.Kill))
	n.at(3.6, n.Server.Resume)
	n.at(4, n.must(t, n.Restart))
	n.Kernel.Run(kernel.True(5 * time.Second))
	if n.keys() != "early" {
		t.Errorf("left: %q", n.keys())
	}
}

func TestRestartedNodeIsNotPaused(t *testing.T) {
	n := newOneNode(t, redis.NoPersistence)
	n.at(1, n.Server.Pause)
	n.at(2, n.must(t, n.Kill))
	n.at(3, n.must(t, n.Restart))
	n.at(4, n.set("k", time.Hour))
	n.Kernel.Run(kernel.True(5 * time.Second))
	if n.keys() != "k" {
		t.Errorf("%q, paused: %v", n.keys(), n.Server.Paused())
	}
}

// A node has the same run id until it is started again, and no other node has it.
func TestRunID(t *testing.T) {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B"}}, model.New())
	var ids []string
	for range 3 {
		for _, s := range w.Servers {
			if id := s.RunID(); len(id) != 40 || slices.Contains(ids, id) || s.RunID() != id {
				t.Errorf("%s has run id %s after %q, and then %s", s.Name(), id, ids, s.RunID())
			} else {
				ids = append(ids, id)
			}
			if err := errors.Join(s.Kill(), s.Restart()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
