package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

const ms = time.Millisecond

// node is a node A, and a client c that sends commands to it.
type node struct {
	*sim.World
	a    *redis.Server
	said strings.Builder
	sent int
}

func newNode(t *testing.T, latency time.Duration, persistence redis.Persistence) *node {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Persistence: persistence, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(latency)}, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &node{World: w, a: w.Server("A")}
}

// send has a command sent at a true time, of which the outcome and the time of the reply are taken down.
func (n *node) send(at time.Duration, c driver.Command) {
	n.Kernel.After(at, func() {
		n.sent++
		c.Round = n.sent
		if c.Deadline.IsZero() {
			c.Deadline = n.Client("c").ProgramClock().Now().Add(time.Hour)
		}
		c.Done = func(_ *driver.Command, r driver.Reply) {
			fmt.Fprintf(&n.said, "%v %v; ", n.Kernel.Now().Sub(0), r.Outcome)
		}
		n.Nodes(n.Client("c"))[0].Do([]*driver.Command{&c})
	})
}

func (n *node) want(t *testing.T, want string) {
	t.Helper()
	n.Kernel.Run(kernel.True(time.Hour))
	if got := strings.TrimSuffix(n.said.String(), "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func acquire(value string, ttl time.Duration, keys string) driver.Command {
	return driver.Command{Op: driver.OpAcquire, Value: value, TTL: ttl, Keys: strings.Fields(keys)}
}

func extend(value string, ttl time.Duration, keys string) driver.Command {
	return driver.Command{Op: driver.OpExtend, Value: value, TTL: ttl, Keys: strings.Fields(keys)}
}

func release(value, keys string) driver.Command {
	return driver.Command{Op: driver.OpRelease, Value: value, Keys: strings.Fields(keys)}
}

// TestCommands: what the three operations do. Each command is sent at its time and answered at once.
func TestCommands(t *testing.T) {
	type at struct {
		when time.Duration
		c    driver.Command
	}
	for _, test := range []struct {
		name     string
		commands []at
		want     string // a letter each: Accepted or Declined
		left     string // key=value@milliseconds since the start
	}{
		{"set if it is free", []at{{0, acquire("v", 100*ms, "k")}, {1 * ms, acquire("w", 100*ms, "k")}, {2 * ms, acquire("v", 100*ms, "k")}}, "ADD", "k=v@100"},
		{"expires after its last millisecond", []at{{0, acquire("v", 100*ms, "k")}, {101*ms - 1, acquire("w", 100*ms, "k")}, {101 * ms, acquire("x", 100*ms, "k")}}, "ADA", "k=x@201"},
		{"the clock is read in milliseconds", []at{{2*ms - 1, acquire("v", 100*ms, "k")}}, "A", "k=v@101"},
		{"several keys: all are free", []at{{0, acquire("v", 100*ms, "a b")}, {1 * ms, acquire("w", 100*ms, "c")}}, "AA", "a=v@100 b=v@100 c=w@101"},
		{"several keys: one is taken", []at{{0, acquire("v", 100*ms, "b")}, {1 * ms, acquire("w", 100*ms, "a b c")}}, "AD", "b=v@100"},

		{"extend", []at{{0, acquire("v", 100*ms, "k")}, {50 * ms, extend("v", 100*ms, "k")}}, "AA", "k=v@150"},
		{"extend does not shorten", []at{{0, acquire("v", 100*ms, "k")}, {50 * ms, extend("v", 10*ms, "k")}}, "AA", "k=v@100"},
		{"extend another's", []at{{0, acquire("v", 100*ms, "k")}, {50 * ms, extend("w", 100*ms, "k")}}, "AD", "k=v@100"},
		{"extend at the last moment", []at{{0, acquire("v", 100*ms, "k")}, {101*ms - 1, extend("v", 100*ms, "k")}}, "AA", "k=v@200"},
		{"extend creates nothing", []at{{0, acquire("v", 100*ms, "k")}, {101 * ms, extend("v", 100*ms, "k")}}, "AD", ""},
		{"extend all or none", []at{{0, acquire("v", 100*ms, "a")}, {1 * ms, extend("v", 500*ms, "a b")}}, "AD", "a=v@100"},

		{"release", []at{{0, acquire("v", 100*ms, "k")}, {1 * ms, release("v", "k")}, {2 * ms, release("v", "k")}, {3 * ms, acquire("w", 5*ms, "k")}}, "AADA", "k=w@8"},
		{"release another's", []at{{0, acquire("v", 100*ms, "k")}, {1 * ms, release("w", "k")}}, "AD", "k=v@100"},
		{"release what has expired", []at{{0, acquire("v", 100*ms, "k")}, {101 * ms, release("v", "k")}}, "AD", ""},
		{"release those that are ours", []at{{0, acquire("v", 100*ms, "a c")}, {1 * ms, acquire("w", 100*ms, "b")}, {2 * ms, release("v", "a b c")}}, "AAD", "b=w@101"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, 0, redis.NoPersistence)
			var end time.Duration
			for _, c := range test.commands {
				n.send(c.when, c.c)
				end = c.when
			}
			n.Kernel.Run(kernel.True(end))
			var got, left []string
			for _, reply := range strings.Split(strings.TrimSuffix(n.said.String(), "; "), "; ") {
				got = append(got, strings.ToUpper(strings.Fields(reply)[1][:1]))
			}
			for _, r := range n.a.Dump() {
				left = append(left, fmt.Sprintf("%s=%s@%d", r.Key, r.Value, r.ExpiresAt-kernel.Epoch.Milliseconds()))
			}
			if strings.Join(got, "") != test.want || strings.Join(left, " ") != test.left {
				t.Errorf("got %v, left %v; want %s, left %s", got, left, test.want, test.left)
			}
		})
	}
}

// TestDeadlinesAreAbsolute: a step of the node's clock moves the moment at which a key expires by as much.
func TestDeadlinesAreAbsolute(t *testing.T) {
	for step, want := range map[time.Duration]string{0: "0s accepted; 100ms declined; 130ms accepted", -50 * ms: "0s accepted; 100ms declined; 130ms declined", 50 * ms: "0s accepted; 100ms accepted; 130ms declined"} {
		n := newNode(t, 0, redis.NoPersistence)
		n.send(0, acquire("v", 100*ms, "k"))
		n.Kernel.After(10*ms, func() { n.a.Clock().Step(step) })
		n.send(100*ms, acquire("w", time.Second, "k"))
		n.send(130*ms, acquire("x", time.Second, "k"))
		n.want(t, want)
	}
}
