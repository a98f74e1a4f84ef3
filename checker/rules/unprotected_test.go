package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

const second = time.Second

// kill ends the process of a node, and start starts it again without its memory.
func (w *watched) kill(t *testing.T, node string) {
	t.Helper()
	if err := w.Server(node).Kill(); err != nil {
		t.Fatal(err)
	}
	w.fault("kill", node)
}

func (w *watched) start(t *testing.T, node string) {
	t.Helper()
	if err := w.Server(node).Restart(); err != nil {
		t.Fatal(err)
	}
	w.fault("restart", node)
}

// Client a holds the lock on A, B and C for 10 s, from the beginning, and nothing is said of the end: then it is that of the
// run, after 8 s. Redis expires a key a millisecond after its time to live.
func TestUnprotected(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(*watched)
		want string
	}{
		{"a quorum has the key", func(w *watched) {}, ""},
		{"a node more has it, and one loses it", func(w *watched) {
			w.set("a", "D", "r", 10*second)
			w.at(2 * second)
			w.del("a", "C", "r")
		}, ""},
		{"a node loses it", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "r")
		}, "r 2s-8s"},
		{"a node loses it and gets it at once", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "r")
			w.set("a", "C", "r", 10*second)
		}, ""},
		{"a node loses it and gets it later", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "r")
			w.at(3 * second)
			w.set("a", "C", "r", 10*second)
		}, "r 2s-3s"},
		{"a node gives it to another at once", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "r")
			w.set("b", "C", "r", 10*second)
		}, ""},
		{"a node gave it to another, whose key runs out", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "r")
			w.set("b", "C", "r", second)
			w.at(5 * second)
		}, "r 3.001s-8s"},
		{"it is another key", func(w *watched) {
			w.at(2 * second)
			w.del("b", "C", "s")
		}, ""},
		{"the key runs out sooner", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
		}, "r 3.001s-8s"},
		{"the key runs out before it is extended", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001*time.Millisecond + 1)
			w.set("a", "C", "r", 10*second)
		}, "r 3.001s-3.001000001s"},
		{"the key runs out as it is extended", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			w.set("a", "C", "r", 10*second)
		}, ""},
		{"the belief ends with the key: a release", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			w.released(1)
		}, ""},
		{"the belief ends after the key: a release", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001*time.Millisecond + 1)
			w.released(1)
		}, "r 3.001s-3.001000001s"},
		{"the belief ends with the key: a release inside of Hold", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			w.step("release-started", 1)
		}, ""},
		{"the belief ends with the key: a loss", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			w.step("lost", 1)
		}, ""},
		{"the belief ends with the key: a crash", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			_ = w.Crash(w.Client("a"))
		}, ""},
		{"the belief ends with the key: an expiry", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(3001 * time.Millisecond)
			w.expired(1)
		}, ""},
		{"others' ends, and other steps, end nothing", func(w *watched) {
			w.at(2 * second)
			w.released(2)
			w.expired(2)
			w.step("lost", 2)
			w.step("extended", 1)
			_ = w.Crash(w.Client("b"))
			w.del("a", "C", "r")
		}, "r 2s-8s"},
		{"a grant whose belief was over before", func(w *watched) {
			w.expired(2)
			w.granted(2, "s")
		}, ""},
		{"a grant without a quorum", func(w *watched) {
			w.at(second)
			w.set("a", "AB", "s", 10*second)
			w.granted(2, "s")
		}, "s 1s-8s"},
		{"one of several resources, with the call's own end", func(w *watched) {
			w.set("a", "ABC", "s", 10*second)
			for op, resource := range []string{"r", "s"} {
				w.Record(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Process: "a", Op: 2 + op, Resource: resource, With: 2})
			}
			w.released(1)
			w.at(2 * second)
			w.del("b", "C", "s")
			w.at(3 * second)
			w.step("release-started", 2)
		}, "s 2s-3s"},
		{"a node that is down", func(w *watched) {
			w.at(2 * second)
			w.kill(t, "C")
		}, ""},
		{"a node that comes back without its memory", func(w *watched) {
			w.at(2 * second)
			w.kill(t, "C")
			w.at(3 * second)
			w.start(t, "C")
		}, "r 3s-8s"},
		{"of the free nodes one is down", func(w *watched) {
			w.kill(t, "E")
			w.at(2 * second)
			w.del("b", "C", "r")
		}, ""},
		{"of the free nodes one is paused, and goes on", func(w *watched) {
			w.Server("E").Pause()
			w.fault("pause", "E")
			w.at(2 * second)
			w.del("b", "C", "r")
			w.at(3 * second)
			w.fault("resume", "E") // is told of first
			w.Server("E").Resume()
		}, "r 3s-8s"},
		{"a node's clock steps", func(w *watched) {
			w.at(2 * second)
			w.Server("C").Clock().Step(5 * second)
			w.fault("clock-step", "C")
		}, "r 5.001s-8s"},
		{"a node's clock steps beyond the key", func(w *watched) {
			w.at(2 * second)
			w.Server("C").Clock().Step(9 * second)
			w.fault("clock-step", "C")
		}, "r 2s-8s"},
		{"a node's clock steps back after the key has run out", func(w *watched) {
			w.send("b", "C", "PEXPIRE", "r", "3000")
			w.at(4 * second)
			w.Server("C").Clock().Step(-2 * second)
			w.fault("clock-step", "C")
			w.at(4500 * time.Millisecond)
			w.released(1)
		}, "r 3.001s-4s"},
		{"a node's clock steps beyond the key, and back at once", func(w *watched) {
			w.at(2 * second)
			for _, by := range []time.Duration{9 * second, -9 * second} {
				w.Server("C").Clock().Step(by)
				w.fault("clock-step", "C")
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watch(t, sim.Config{}, protocols.Default())
			w.set("a", "ABC", "r", 10*second)
			w.granted(1, "r")
			c.does(w)
			w.at(8 * second)
			if got := strings.Join(w.found(checker.Unprotected), ", "); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
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
			lock := protocols.Default()
			protocols.Change(&lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: 10 * second} })
			w := watch(t, sim.Config{}, lock)
			for _, s := range w.Servers {
				w.send("a", s.Name(), "SET", driver.GuardKey, s.RunID()+" 0 10000")
			}
			w.set("a", "ABC", "r", 10*second)
			w.granted(1, "r")
			w.at(2 * second)
			w.kill(t, "C")
			w.start(t, "C")
			w.at(3 * second)
			if record := c.record(w.Server("C").RunID()); record != "" {
				w.send("b", "C", "SET", driver.GuardKey, record)
			}
			w.at(8 * second)
			if got := strings.Join(w.found(checker.Unprotected), ", "); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// A node whose fencing counter is ahead of what votes have made it may have no vote.
func TestUnprotectedAndCounters(t *testing.T) {
	for counter, want := range map[string]string{"7": "r 2s-8s", "8": ""} {
		lock := protocols.Default()
		protocols.Change(&lock, func(own *protocols.RedlockSettings) { own.Fencing = true })
		w := watch(t, sim.Config{}, lock)
		for _, s := range w.Servers {
			w.send("a", s.Name(), "SET", driver.TokenKey("r"), "7")
		}
		w.set("a", "ABC", "r", 10*second)
		w.granted(1, "r")
		w.at(2 * second)
		w.Server("D").Put(redis.Record{Key: driver.TokenKey("r"), Value: counter})
		w.fault("set-counters", "D")
		w.del("b", "C", "r")
		w.at(8 * second)
		if got := strings.Join(w.found(checker.Unprotected), ", "); got != want {
			t.Errorf("with the counter %s found %q, want %q", counter, got, want)
		}
	}
}

// The finding says who believed and until when, and what became of the key on each node.
func TestUnprotectedInWords(t *testing.T) {
	w := watch(t, sim.Config{}, protocols.Default())
	w.set("a", "ABC", "r", 10*second)
	w.granted(1, "r")
	w.set("b", "D", "r", second)
	w.send("b", "A", "PEXPIRE", "r", "3000")
	w.send("b", "B", "PEXPIRE", "r", "3000")
	w.at(2 * second)
	w.del("b", "C", "r")
	w.at(4 * second)
	w.released(1)
	all := w.run.Findings() // b deletes and changes what a has set, too
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

// Where a service has the lock, where the lock is the caller's own and where replicas may take a node's place nothing is looked
// at.
func TestUnprotectedIsForVotes(t *testing.T) {
	for _, c := range []struct {
		name    string
		lock    protocols.Settings
		cfg     sim.Config
		foreign bool
		want    int
	}{
		{"redlock", protocols.Default(), sim.Config{}, false, 1},
		{"redlock-plain", protocols.Default().With("redlock-plain"), sim.Config{}, false, 1},
		{"redisson-multi", protocols.Default().With("redisson-multi"), sim.Config{}, false, 1},
		{"single", protocols.Default().With("single"), sim.Config{Nodes: []string{"A"}}, false, 1},
		{"db-row", protocols.Default().With("db-row"), sim.Config{Nodes: []string{"A"}}, false, 0},
		{"foreign", protocols.Default(), sim.Config{}, true, 0},
		{"replicas", protocols.Default(), sim.Config{Nodes: []string{"A"}, Replicas: map[string][]string{"A": {"A2"}}}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cfg.Nodes == nil {
				c.cfg.Nodes = []string{"A", "B", "C"}
			}
			world := sim.NewWorld(c.cfg, model.New())
			defer world.Close()
			w := watched{World: world, run: &rules.Run{World: world, Lock: c.lock, Foreign: c.foreign}}
			w.run.Watch()
			w.granted(1, "r")
			w.at(second)
			if found := w.found(checker.Unprotected); len(found) != c.want || w.run.Watched["protected"] != c.want {
				t.Errorf("found %v in %d times, want %d", found, w.run.Watched["protected"], c.want)
			}
		})
	}
}
