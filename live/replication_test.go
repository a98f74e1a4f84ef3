//go:build linux

package live

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// disturbingTest is for how long a machine must hold up a test of small times for it to be tried again.
const disturbingTest = 25 * time.Millisecond

// emptyTestbed is a testbed without clients, at the speed of the machine.
func emptyTestbed(t testing.TB) *testbed {
	t.Helper()
	r, err := newTestbed(1, []string{"/bin/false"})
	if errors.Is(err, ErrNoServer) && os.Getenv(redisserver.RequireEnv) != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// mustAsk asks a server that must answer.
func (r *testbed) mustAsk(t testing.TB, node string, args ...string) string {
	t.Helper()
	reply, err := redisproc.Ask(r.server(node).addr, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", node, args, err)
	}
	return reply
}

// soon waits until a node has a key with this value; empty for none.
func (r *testbed) soon(t testing.TB, node, key, value string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); r.mustAsk(t, node, "GET", key) != value; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has %q as %s, want %q", node, r.mustAsk(t, node, "GET", key), key, value)
		}
	}
}

// staysWithout sees that a node does not get a key.
func (r *testbed) staysWithout(t testing.TB, node, key string) {
	t.Helper()
	time.Sleep(300 * time.Millisecond)
	if got := r.mustAsk(t, node, "GET", key); got != "" {
		t.Errorf("%s has %q as %s", node, got, key)
	}
}

func mustInject(t testing.TB, r *testbed, f faults.Fault) {
	t.Helper()
	if err := f.Inject(r.field); err != nil || r.failed != nil {
		t.Fatal(err, r.failed)
	}
}

// replicated is a testbed with a master and three replicas.
func replicated(t testing.TB, persistence redis.Persistence) *testbed {
	t.Helper()
	r := emptyTestbed(t)
	if err := r.addServers(t.Context(), []string{"M"}, persistence, false); err != nil {
		t.Fatal(err)
	}
	r.mustAsk(t, "M", "SET", "first", "1")
	if err := r.addReplicas(t.Context(), "M", []string{"M2", "M3", "M4"}, persistence, false); err != nil {
		t.Fatal(err)
	}
	if err := r.replicasReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func amongPeers(nodes, peers string, d network.Direction) faults.Links {
	return faults.Links{Nodes: strings.Fields(nodes), Peers: strings.Fields(peers), Direction: d}
}

// Replicas have what their master has, unless a fault of the links between them keeps it from them.
func TestReplicas(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbingTest, func(t *retry.T) {
		r := replicated(t, redis.NoPersistence)
		r.mustAsk(t, "M", "SET", "a", "1")
		for _, name := range []string{"M2", "M3", "M4"} {
			r.soon(t, name, "a", "1")
			r.soon(t, name, "first", "1")
			if _, err := redisproc.Ask(r.server(name).addr, "SET", "b", "1"); err == nil || !strings.Contains(err.Error(), "READONLY") {
				t.Errorf("%s takes a write: %v", name, err)
			}
		}
		cut := &faults.Partition{Links: amongPeers("M", "M3", network.Requests)}
		mustInject(t, r, cut)
		mustInject(t, r, &faults.Delay{Links: amongPeers("M4", "M", network.Replies), By: 200 * time.Millisecond})
		begun := time.Now()
		r.mustAsk(t, "M", "SET", "a", "2")
		r.soon(t, "M2", "a", "2")
		r.soon(t, "M4", "a", "2")
		if took := time.Since(begun); took < 200*time.Millisecond {
			t.Errorf("M4 has it after %v", took)
		}
		if got := r.mustAsk(t, "M3", "GET", "a"); got != "1" {
			t.Errorf("M3 has %q behind a partition", got)
		}
		r.field.Heal()
		r.soon(t, "M3", "a", "2")
		// What a replica was brought up to date with is no persistence.
		at := time.Duration(0)
		mustInject(t, r, &faults.Kill{Outage: faults.Outage{Node: "M2", RestartAfter: &at}})
		r.soon(t, "M2", "a", "2")
		mustInject(t, r, &faults.Kill{Outage: faults.Outage{Node: "M", RestartAfter: &at}})
		for _, name := range []string{"M", "M2", "M3", "M4"} {
			r.soon(t, name, "a", "")
			r.soon(t, name, "first", "")
		}
	})
}

// What a node sends a peer goes down the link by which the peer follows it, and up the one by which it follows the peer.
func TestLinksAmongNodes(t *testing.T) {
	r := emptyTestbed(t)
	for _, ends := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "a"}} {
		if _, err := r.link(ends[0], ends[1], "127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
		r.proxies[len(r.proxies)-1].amongNodes = true
	}
	for _, test := range []struct {
		nodes, peers string
		direction    network.Direction
		want         string
	}{
		{"a", "b", network.Requests, "b follows a: down, a follows b: up"},
		{"a", "b", network.Replies, "b follows a: up, a follows b: down"},
		{"b", "a", network.Requests, "a follows b: down, b follows a: up"},
		{"a", "b", network.Both, "a follows b: up, a follows b: down, b follows a: up, b follows a: down"},
		{"a", "b c", network.Requests, "b follows a: down, a follows b: up, c follows a: down, a follows c: up"},
	} {
		links := amongPeers(test.nodes, test.peers, test.direction)
		ground{r}.each(&links, func(w *impairment) { w.lost++ })
		var got []string
		for _, p := range r.proxies {
			for name, w := range map[string]*flow{"up": p.up, "down": p.down} {
				if now, _ := w.state(); now.lost == 1 {
					got = append(got, fmt.Sprintf("%s follows %s: %s", p.client, p.node, name))
				}
			}
		}
		want := strings.Split(test.want, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s → %s: %q, want %q", test.nodes, test.peers, got, want)
		}
		ground{r}.each(&links, func(w *impairment) { w.lost-- })
	}
	ground{r}.each(&faults.Links{}, func(w *impairment) { t.Error("a link among nodes is taken for one of a client") })
}

// What a master has not told its replicas when it stops is lost, although the links would have carried it by and by. A
// replica is a master when it is promoted, the others follow it, and so does the master of before when it comes back.
func TestPromote(t *testing.T) {
	t.Parallel()
	for _, stop := range []faults.Fault{&faults.Kill{Outage: faults.Outage{Node: "M"}}, &faults.PowerLoss{Outage: faults.Outage{Node: "M"}}, &faults.Shutdown{Outage: faults.Outage{Node: "M"}}} {
		t.Run(fmt.Sprintf("%T", stop), func(t *testing.T) {
			t.Parallel()
			retry.Test(t, disturbingTest, func(t *retry.T) {
				r := replicated(t, redis.NoPersistence)
				r.mustAsk(t, "M", "SET", "a", "1")
				for _, name := range []string{"M2", "M3", "M4"} {
					r.soon(t, name, "a", "1")
				}
				mustInject(t, r, &faults.Delay{Links: amongPeers("M", "M2 M3", network.Both), By: 200 * time.Millisecond * t.Slower})
				mustInject(t, r, &faults.Partition{Links: amongPeers("M2", "M4", network.Both)})
				r.mustAsk(t, "M", "SET", "a", "2")
				r.mustAsk(t, "M", "SET", "b", "2")
				r.soon(t, "M4", "b", "2")
				mustInject(t, r, stop)
				r.staysWithout(t, "M2", "b")
				mustInject(t, r, &faults.Promote{Node: "M", Replica: "M2"})
				if got := r.mustAsk(t, "M2", "GET", "a"); got != "1" {
					t.Errorf("M2 has %q as a, which it was never told", got)
				}
				if lost := r.field.Used.Restarts; len(lost) != 1 || lost[0].Node != "M" || lost[0].After == 0 {
					t.Errorf("memory is lost: %v", lost)
				}
				r.mustAsk(t, "M2", "SET", "c", "3")
				r.soon(t, "M3", "c", "3")
				r.field.Heal()
				time.Sleep(time.Second)      // after which one that follows tries again
				r.staysWithout(t, "M4", "c") // which a partition kept from following it
				if r.server("M").process != nil {
					t.Error("M, in whose place M2 is, comes back when the faults are healed")
				}
				mustInject(t, r, &faults.Restart{Node: "M"})
				r.soon(t, "M", "c", "3")
				if err := (&faults.Promote{Node: "M", Replica: "M2"}).Inject(r.field); err == nil {
					t.Error("it is promoted twice")
				}
			})
		})
	}
}

// A replica that knows everything loses nothing when it is promoted, and a master that is up goes on. Who stands still
// meanwhile does so when it goes on, and a replica follows who was promoted then. What a master knows that stands still
// is what it knew.
func TestBothSidesServe(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbingTest, func(t *retry.T) {
		for _, paused := range []bool{false, true} {
			r := replicated(t, redis.NoPersistence)
			r.mustAsk(t, "M", "SET", "a", "1")
			r.soon(t, "M2", "a", "1")
			r.soon(t, "M3", "a", "1")
			want := []faults.Amnesia(nil)
			if paused {
				mustInject(t, r, &faults.Delay{Links: amongPeers("M", "M2", network.Both), By: time.Second * t.Slower})
				r.mustAsk(t, "M", "SET", "b", "1")
				mustInject(t, r, &faults.Pause{Process: "M"})
				mustInject(t, r, &faults.Pause{Process: "M3"})
				want = []faults.Amnesia{{Node: "M"}}
			}
			mustInject(t, r, &faults.Promote{Node: "M", Replica: "M2"})
			if lost := r.field.Used.Restarts; !slices.Equal(lost, want) {
				t.Errorf("memory is lost: %v, want %v", lost, want)
			}
			if paused {
				if err := (&faults.Promote{Node: "M", Replica: "M3"}).Inject(r.field); err == nil {
					t.Error("a server that stands still is promoted")
				}
				mustInject(t, r, &faults.Resume{Process: "M"})
				mustInject(t, r, &faults.Resume{Process: "M3"})
			}
			r.mustAsk(t, "M", "SET", "a", "M")
			r.mustAsk(t, "M2", "SET", "a", "M2")
			r.soon(t, "M3", "a", "M2")
			if got := r.mustAsk(t, "M", "GET", "a"); got != "M" {
				t.Errorf("M has %q", got)
			}
		}
	})
}

// The rate error in force is that which began last, of those that have not ended.
func TestRatesOverlap(t *testing.T) {
	r := emptyTestbed(t)
	if err := r.addServers(t.Context(), []string{"A"}, redis.NoPersistence, false); err != nil {
		t.Fatal(err)
	}
	want := func(ppm int64) {
		t.Helper()
		if got := r.server("A").clocks.Boottime().Rate; got != 1000*ppm {
			t.Errorf("it is fast by %d parts per faketime.Billion, want %d", got, 1000*ppm)
		}
	}
	for _, ppm := range []int64{100, -200, 300} {
		mustInject(t, r, &faults.ClockRate{Process: "A", Rate: faults.PPM(ppm)})
		want(ppm)
	}
	if got := r.field.Used.ClockRate; got.PPB() != 300_000 {
		t.Errorf("used %v", got)
	}
	r.field.Heal()
	want(0)
}

// A replica that is slow is as slow as its scenario says, and so is the run.
func TestSlowReplicasAreNotHurried(t *testing.T) {
	speeds := map[string]int{"51-implementations/node-redlock": 1, "06-failover-to-a-replica": 1, "07-failover-with-wait/both-sides-serve": defaultSpeed, "08-redlock-over-replicated-nodes": 1}
	for _, s := range scenarios.Catalogue() {
		if want, ok := speeds[s.Name]; ok && speedOf(s) != want {
			t.Errorf("%s is run at the speed %d, want %d", s.Name, speedOf(s), want)
		}
	}
}

// A proxy that is led elsewhere takes what is asked at its address there, with the faults of that link.
func TestLead(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbingTest, func(t *retry.T) {
		r := emptyTestbed(t)
		if err := r.addServers(t.Context(), []string{"A", "B"}, redis.NoPersistence, false); err != nil {
			t.Fatal(err)
		}
		addr, err := r.link("c", "A", r.server("A").addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.link("c", "B", r.server("B").addr); err != nil {
			t.Fatal(err)
		}
		portOf := func() string {
			info, err := redisproc.Ask(addr, "INFO", "server")
			if err != nil {
				return err.Error()
			}
			_, port, _ := strings.Cut(info, "tcp_port:")
			port, _, _ = strings.Cut(port, "\r\n")
			return "127.0.0.1:" + port
		}
		if got := portOf(); got != r.server("A").addr {
			t.Errorf("%s answers", got)
		}
		if err := r.proxy("c", "A").lead(r.proxy("c", "B")); err != nil {
			t.Fatal(err)
		}
		if got := portOf(); got != r.server("B").addr {
			t.Errorf("%s answers, want B at %s", got, r.server("B").addr)
		}
		delay := 300 * time.Millisecond
		r.proxy("c", "B").up.change(func(w *impairment) { w.delay = delay })
		r.proxy("c", "A").up.change(func(w *impairment) { w.lost++ })
		begun := time.Now()
		if got := portOf(); got != r.server("B").addr || time.Since(begun) < delay {
			t.Errorf("%s answers after %v", got, time.Since(begun))
		}
	})
}

// A server whose wall clock is fast lets keys go sooner, and one whose clock is slow later.
func TestServerClock(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbingTest, func(t *retry.T) {
		r := emptyTestbed(t)
		names := []string{"fast", "slow", "true"}
		err := r.addServers(t.Context(), names, redis.NoPersistence, true)
		if errors.Is(err, ErrNoCompiler) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		const ttl = 400 * time.Millisecond
		wall := func(name string) int64 {
			return int64(1000 * mustFloat(t, r.mustAsk(t, name, "EVAL", "local t = redis.call('TIME') return tostring(t[1] + t[2] / 1000000)", "0")))
		}
		ahead := r.server("fast").clocks
		ahead.Step(time.Hour)
		ahead.SetRate(faketime.Billion)
		r.server("slow").clocks.SetRate(-faketime.Billion / 2)
		for _, test := range []struct {
			name  string
			lasts time.Duration
		}{{"fast", ttl / 2}, {"slow", 2 * ttl}, {"true", ttl}} {
			before := r.server(test.name).wall()
			read := wall(test.name)
			if after := r.server(test.name).wall(); read < before-1 || read > after+1 {
				t.Errorf("the clock of %s reads %d, and its supervisor reads between %d and %d", test.name, read, before, after)
			}
			// Bounds that hold however long this process is held up. Redis counts in milliseconds.
			const grain = 3 * time.Millisecond
			clocks := r.server(test.name).clocks
			due := func() int64 { return clocks.WhenWall(clocks.WallNow().Add(ttl)) }
			set, dueFirst := faketime.MachineTime(), due()
			r.mustAsk(t, test.name, "SET", "k", "v", "PX", fmt.Sprint(ttl.Milliseconds()))
			isSet, dueLast := faketime.MachineTime(), due()
			last := int64(0) // when it was there for certain
			for asked := isSet; r.mustAsk(t, test.name, "GET", "k") != ""; asked = faketime.MachineTime() {
				last = asked
				time.Sleep(time.Millisecond)
			}
			gone := faketime.MachineTime()
			if last > isSet+int64(test.lasts+grain) || gone < set+int64(test.lasts-grain) {
				t.Errorf("a key of %v on %s was there after %v, and gone after %v, want %v", ttl, test.name, time.Duration(last-set), time.Duration(gone-set), test.lasts)
			}
			if last > dueLast+int64(grain) || gone < dueFirst-int64(grain) {
				t.Errorf("the supervisor of %s thinks that it lasts from %v to %v after it was set", test.name, time.Duration(dueFirst-set), time.Duration(dueLast-set))
			}
		}
		if off := wall("fast") - wall("true"); off < time.Hour.Milliseconds() {
			t.Errorf("the step is forgotten: %d ms", off)
		}
	})
}

func mustFloat(t testing.TB, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
