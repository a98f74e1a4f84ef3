//go:build unix

package adaptertest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// What real servers answer that begin to refuse something while they are in use, and allow it again.
func serversThatChange(t *testing.T, a Adapter) {
	const one, both = "a=mine:30s", "a=mine:30s b=mine:30s"
	for name, steps := range map[string][]step{
		// Both the plain acquire and the scripted one need memory, extending and releasing need none.
		"out of memory": {
			{"", "acquire a", "accepted", one, ""},
			{asItIs, "!config set maxmemory 1; acquire b", "failed: OOM", one, ""},
			{asItIs, "acquire b c", "failed: OOM", one, ""},
			{asItIs, "extend a", "accepted", one, ""},
			{asItIs, "release a", "accepted", "", ""},
			{asItIs, "!config set maxmemory 0; acquire a b", "accepted", both, ""},
		},
		// A replica refuses whatever writes.
		"a replica": {
			{"", "acquire a b", "accepted", both, ""},
			{asItIs, "extend a b", "accepted", both, ""},
			{asItIs, "!replicaof 127.0.0.1 1; acquire c", "failed: READONLY", both, ""},
			{asItIs, "acquire c d", "failed: READONLY", both, ""},
			{asItIs, "extend a b", "failed: READONLY", both, ""},
			{asItIs, "release a b", "failed: READONLY", both, ""},
			{asItIs, "acquire c max=10s", "failed: READONLY", both, ""},
			{asItIs, "prepare max=10s run=this", "failed: READONLY", both, ""},
			{asItIs, "!replicaof no one; acquire c", "accepted", both + " c=mine:30s", ""},
		},
		// The server loses its vote with the first command that it forbids, and has it back when it allows all again.
		"scripts are forbidden": {
			{"", "acquire a", "accepted", one, ""},
			{asItIs, "!acl setuser default -eval -evalsha; release a", "forbidden: EVAL, EVALSHA, SET", one, ""},
			{asItIs, "acquire b", "forbidden: EVAL, EVALSHA, SET", one, ""},
			{asItIs, "!acl setuser default +eval +evalsha; acquire b", "accepted", both, ""},
			{asItIs, "release b", "accepted", one, ""},
		},
		// Without EVALSHA scripts are sent in full.
		"hashes are forbidden": {
			{"", "!acl setuser default -evalsha; acquire a", "accepted", one, "eval"},
			{asItIs, "extend a", "accepted", one, "eval"},
			{asItIs, "extend a", "accepted", one, "evalsha; eval"},
			{asItIs, "release a", "accepted", "", "eval"},
			{asItIs, "release a", "declined", "", "evalsha; eval"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := redisserver.Start(t)
			ForbidPlain(t, Admin(t, server.Addr))
			newBench(t, a, server.Addr, Config{}).steps(steps...)
		})
	}
}

// A server that forbids what extending and releasing need does not vote, from the first command on, and says what it must
// allow. Nothing is set there.
func forbidden(t *testing.T, a Adapter) {
	check := func(name, addr string, c Config, do string) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, a, addr, c)
			for range 2 {
				b.step(step{"guard=this,0,1m", do, "forbidden: EVAL, EVALSHA, SET", "guard=this,0,1m0s", ""})
			}
		})
	}
	for _, names := range []string{"EVAL EVALSHA", "DEL"} {
		var args []string
		for _, name := range strings.Fields(names) {
			args = append(args, "--rename-command", name, "")
		}
		check(names+" renamed", redisserver.Start(t, args...).Addr, Config{}, "acquire a")
	}
	server := redisserver.Start(t)
	admin := newBench(t, a, server.Addr, Config{})
	for _, user := range []struct{ name, rules, do string }{
		{"no-scripts", "-@scripting", "acquire a"},
		{"no-eval", "-eval", "acquire a"},
		{"no-del", "-del", "acquire a"},
		{"no-pexpire", "-pexpire", "acquire a"},
		{"no-pttl", "-pttl", "acquire a"},
		{"no-get", "-get", "acquire a"},
		{"no-reading", "resetkeys %W~*", "acquire a"},
		{"no-del-fenced", "-del", "acquire a token=1"},
		{"no-pexpire-guarded", "-pexpire", "acquire a max=1m"},
	} {
		admin.ask("acl setuser " + user.name + " on >secret ~* &* +@all " + user.rules)
		check(user.name, server.Addr, Config{Username: user.name, Password: "secret"}, user.do)
	}
}

// How connections fare when the server stops, is killed, hangs and comes back.
func serverComesBack(t *testing.T, a Adapter) {
	r := redisserver.Start(t)
	node := a.node(t, r.Addr, Config{})
	one := func(when, text string, want driver.Outcome) {
		t.Helper()
		expect(t, when+", "+text, Do(t, node, Command(t, text, TTL))[0], want)
	}
	for _, text := range []string{"acquire a b", "extend a b", "release a b"} {
		one("at first", text, driver.Accepted)
	}
	for name, end := range map[string]func(){"stopped": r.Stop, "killed": r.Kill} {
		one("before it is "+name, "acquire "+name, driver.Accepted)
		end()
		expect(t, name, Acquire(t, node), driver.Refused)
		r.Restart()
		// The scripts are forgotten, and after the next restart the connection is dead: an adapter sees that before it uses it.
		one("after it was "+name, "release "+name, driver.Declined)
		one("after it was "+name, "acquire "+name, driver.Accepted)
		r.Stop()
		r.Restart()
		one("nothing was sent while it was away", "acquire "+name, driver.Accepted)
	}

	r.Pause()
	expect(t, "hanging", Acquire(t, node), driver.TimedOut)
	expect(t, "hanging, on a new connection", Acquire(t, node), driver.TimedOut)
	r.Resume()
	one("going on", "acquire z", driver.Accepted)
}

// The guard on a real server that restarts, with what it had or without, and is emptied.
func guardOverRestarts(t *testing.T, a Adapter) {
	for name, args := range map[string][]string{"empty": nil, "with what it had": {"--appendonly", "yes", "--appendfsync", "always"}} {
		t.Run(name, func(t *testing.T) {
			server := redisserver.Start(t, args...)
			const limit = 400 * time.Millisecond
			nodes, end := a.Open(t, Config{}, server.Addr)
			defer end()
			client, err := redlock.New(nodes, redlock.WithNodeTimeout(Patience), redlock.WithRestartGuard(redlock.Guard{MaxTTL: limit}),
				redlock.WithRetryDelay(10*time.Millisecond, 20*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			try := func(when string, isQuarantined bool) {
				t.Helper()
				lease, err := client.TryLock(t.Context(), "r", limit)
				if err == nil {
					_ = lease.Unlock(t.Context())
				}
				if (err != nil) != isQuarantined || err != nil && !strings.Contains(err.Error(), "in quarantine") {
					t.Errorf("%s: %v", when, err)
				}
			}
			try("at first", true)
			if err := client.PrepareGuard(t.Context()); err != nil {
				t.Fatal(err)
			}
			try("prepared", false)
			server.Kill()
			server.Restart()
			try("after a restart", true)
			start := time.Now()
			if _, err := client.Lock(t.Context(), "other", limit); err != nil || time.Since(start) < limit-50*time.Millisecond {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			try("after quarantine", false)
			Admin(t, server.Addr).FlushAll(t.Context())
			try("emptied", true)
		})
	}
}

// A server whose replicas confirm what it is asked accepts it, and one without replicas does not, in time for its answer.
// Others do not wait for that.
func replicas(t *testing.T, a Adapter) {
	primary := redisserver.Start(t, "--repl-diskless-sync-delay", "0")
	node, admin := a.node(t, primary.Addr, Config{}), Admin(t, primary.Addr)
	both := func() []driver.Reply {
		asks, asksNot := Command(t, "acquire a", TTL), Command(t, "acquire b", TTL)
		asks.Replicas = 1
		asks.Deadline = time.Now().Add(time.Second)
		asksNot.Deadline = asks.Deadline
		return Do(t, node, asks, asksNot)
	}
	answered := make(chan driver.Reply, 1)
	others := Command(t, "acquire c", TTL)
	others.Deadline = time.Now().Add(time.Second / 2)
	others.Done = func(_ *driver.Command, r driver.Reply) { answered <- r }
	time.AfterFunc(Short, func() { node.Do([]*driver.Command{others}) }) // while the server waits for replicas
	replies := both()
	expect(t, "what is sent meanwhile", <-answered, driver.Accepted)
	if e := (*driver.ReplicasError)(nil); replies[0].Outcome != driver.Failed || !errors.As(replies[0].Err, &e) || e.Confirmed != 0 || e.Asked != 1 {
		t.Errorf("without a replica: %v", replies[0])
	}
	expect(t, "what asks no replica", replies[1], driver.Accepted)

	redisserver.StartReplica(t, primary)
	Eventually(t, Patience, "the replica confirms", func() bool { // it may still be busy with what it has just received
		admin.FlushDB(t.Context())
		replies := both()
		expect(t, "with a replica, what asks none", replies[1], driver.Accepted)
		return replies[0].Outcome == driver.Accepted
	})
}
