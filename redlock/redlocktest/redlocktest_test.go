package redlocktest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/redlocktest"
	"redlocksim/redlock/single"
)

const ttl = 10 * time.Second

// outcomes are what the nodes answered, in order, as the error of a call says.
func outcomes(t *testing.T, err error) string {
	t.Helper()
	var e *redlock.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *redlock.Error", err)
	}
	var all []string
	for _, n := range e.Nodes {
		all = append(all, n.Outcome.String())
	}
	return strings.Join(all, ", ")
}

func lock(t *testing.T, c *redlock.Client, resource string) *redlock.Lease {
	t.Helper()
	lease, err := c.TryLock(t.Context(), resource, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func unlock(t *testing.T, lease *redlock.Lease) {
	t.Helper()
	if err := lease.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
}

// A fault of a majority is what a lock sees, as the error says, and at the time that it takes.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(redlocktest.Nodes)
		match error
		nodes string // what three of them answer
		took  time.Duration
	}{
		"healthy":           {fault: func(redlocktest.Nodes) {}},
		"down":              {func(n redlocktest.Nodes) { n.Down() }, redlock.ErrNoQuorum, "refused, refused, unanswered", 0},
		"a minority down":   {func(n redlocktest.Nodes) { n.Down(1) }, nil, "", 0},
		"slow":              {func(n redlocktest.Nodes) { n.Slow(30 * time.Millisecond) }, nil, "", 30 * time.Millisecond},
		"too slow":          {func(n redlocktest.Nodes) { n.Slow(80 * time.Millisecond) }, redlock.ErrNoQuorum, "timed out, timed out, timed out", 50 * time.Millisecond},
		"requests are lost": {func(n redlocktest.Nodes) { n.DropRequests(0, 1) }, redlock.ErrNoQuorum, "timed out, timed out, granted", 50 * time.Millisecond},
		"replies are lost":  {func(n redlocktest.Nodes) { n.DropReplies(0, 1) }, redlock.ErrNoQuorum, "timed out, timed out, granted", 50 * time.Millisecond},
		"healed":            {func(n redlocktest.Nodes) { n.Down(); n.Slow(time.Hour); n.DropRequests(); n.DropReplies(); n.Heal() }, nil, "", 0},
		"partly healed":     {func(n redlocktest.Nodes) { n.Down(); n.Heal(0) }, redlock.ErrNoQuorum, "granted, refused, refused", 0},
		"stolen":            {func(n redlocktest.Nodes) { n.Steal("r", time.Second) }, redlock.ErrTaken, "held by another, held by another, unanswered", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := redlocktest.New(t, 3)
				client := nodes.Client()
				test.fault(nodes)
				began := time.Now()
				lease, err := client.TryLock(t.Context(), "r", ttl)
				if took := time.Since(began).Round(time.Millisecond); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
				if !errors.Is(err, test.match) {
					t.Fatalf("%v, want %v", err, test.match)
				}
				if err == nil {
					unlock(t, lease)
					return
				}
				var e *redlock.Error
				errors.As(err, &e)
				var all []string
				for _, n := range e.Nodes {
					all = append(all, n.Outcome.Of(e.Op))
				}
				if got := strings.Join(all, ", "); got != test.nodes {
					t.Errorf("the nodes: %s, want %s", got, test.nodes)
				}
			})
		})
	}
}

// A node that is down refuses as a port does on which nobody listens, also what is under way.
func TestDownRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 1)
		client := nodes.Client()
		nodes.Slow(20 * time.Millisecond)
		time.AfterFunc(10*time.Millisecond, func() { nodes.Down() })
		_, err := client.TryLock(t.Context(), "r", ttl)
		var e *redlock.Error
		if !errors.As(err, &e) || !errors.Is(e.Nodes[0].Err, syscall.ECONNREFUSED) {
			t.Errorf("%v", err)
		}
	})
}

// A lost request was not carried out, and one whose reply is lost was.
func TestLostMessages(t *testing.T) {
	for _, test := range []struct {
		what string
		drop func(redlocktest.Nodes)
		free bool // the key is gone
	}{
		{"requests", func(n redlocktest.Nodes) { n.DropRequests() }, false},
		{"replies", func(n redlocktest.Nodes) { n.DropReplies() }, true},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := redlocktest.New(t, 1)
				lease := lock(t, nodes.Client(), "r")
				test.drop(nodes)
				if err := lease.Unlock(t.Context()); !errors.Is(err, redlock.ErrNoQuorum) {
					t.Errorf("unlock: %v", err)
				}
				nodes.Heal()
				again, err := nodes.Client().TryLock(t.Context(), "r", ttl)
				if free := err == nil; free != test.free {
					t.Errorf("the key is gone: %v", free)
				}
				if err == nil {
					unlock(t, again)
				}
			})
		})
	}
}

// Commands are carried out when they arrive, and at one time in the order in which they were sent.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 1)
		began := time.Now()
		var mu sync.Mutex
		var got []string
		send := func(what string, ops ...driver.Op) {
			var batch []*driver.Command
			for _, op := range ops {
				batch = append(batch, &driver.Command{Op: op, Keys: []string{"r"}, Value: "v", TTL: ttl, Done: func(_ *driver.Command, r driver.Reply) {
					mu.Lock()
					defer mu.Unlock()
					at := time.Since(began).Truncate(time.Millisecond)
					got = append(got, fmt.Sprint(at, " ", what, " ", op, " ", r.Outcome.Of(op)))
				}})
			}
			nodes[0].Do(batch)
		}
		nodes.Slow(20 * time.Millisecond)
		send("slow", driver.OpRelease)
		nodes.Slow(10 * time.Millisecond)
		send("less slow", driver.OpAcquire)
		send("less slow", driver.OpAcquire)
		nodes.Heal()
		send("first", driver.OpExtend, driver.OpAcquire, driver.OpExtend)
		send("second", driver.OpRelease)
		send("third", driver.OpRelease)
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		want := []string{
			"0s first extend not ours any more", "0s first acquire granted", "0s first extend extended", "0s second release released",
			"0s third release not ours any more", "10ms less slow acquire granted", "10ms less slow acquire held by another",
			"20ms slow release released",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A node that forgets gives its vote away again, and its counters, and the restart guard keeps it from voting.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		client := nodes.Client(redlock.WithRestartGuard(redlock.Guard{MaxTTL: ttl}))
		if err := client.PrepareGuard(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease := lock(t, client, "r")
		nodes.Forget(0, 1)
		other := nodes.Client(redlock.WithRestartGuard(redlock.Guard{MaxTTL: ttl}))
		_, err := other.TryLock(t.Context(), "r", ttl)
		if got := outcomes(t, err); got != "in quarantine, in quarantine, unanswered" {
			t.Errorf("another client: %s", got)
		}
		unlock(t, lock(t, nodes.Client(), "r")) // a client without the guard gets it, which is what the guard prevents
		if err := lease.Unlock(t.Context()); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
		time.Sleep(ttl + 2*time.Millisecond)
		unlock(t, lock(t, other, "r"))
	})
}

// The holder of a stolen lock learns of it when it extends. With fencing, the thief has a higher token than it, and the next
// holder a higher one than the thief.
func TestSteal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		client := nodes.Client(redlock.WithFencing(redlock.Fencing{}))
		lease := lock(t, client, "r")
		nodes.Steal("r", time.Second)
		if lease.Context().Err() != nil {
			t.Error("the holder knows at once")
		}
		if err := lease.Extend(t.Context(), ttl); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("extend: %v", err)
		}
		if err := lease.Unlock(t.Context()); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
		if _, err := client.TryLock(t.Context(), "r", ttl); !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("while the thief has it: %v", err)
		}
		time.Sleep(time.Second + 2*time.Millisecond)
		next := lock(t, nodes.Client(redlock.WithFencing(redlock.Fencing{})), "r")
		defer unlock(t, next)
		old, _ := lease.Token()
		token, _ := next.Token()
		if token != old+2 {
			t.Errorf("token %d after %d", token, old)
		}
	})
}

// A lease is lost when Lose returns, and others can take the lock.
func TestLose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		client := nodes.Client()
		nodes.Down(4)
		lease, err := client.LockAll(t.Context(), []string{"r", "s"}, ttl)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		nodes.Lose(lease)
		if why := context.Cause(lease.Context()); why != redlock.ErrLost {
			t.Errorf("the context: %v", why)
		}
		if took := time.Since(began); took > time.Millisecond {
			t.Errorf("it took %v", took)
		}
		unlock(t, lock(t, client, "s"))
		if err := lease.Unlock(t.Context()); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
	})
}

// A release calls who waits, unless the message is lost: then the retry delay ends the wait.
func TestWakeUp(t *testing.T) {
	for _, test := range []struct {
		what  string
		drop  []int
		waits time.Duration
	}{
		{"heard", nil, time.Second},
		{"lost", []int{0, 1, 2, 3, 4}, time.Minute},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := redlocktest.New(t, 5)
				options := []redlock.Option{redlock.WithWakeUp(10 * time.Millisecond), redlock.WithRetryDelay(time.Minute, time.Minute)}
				lease, err := nodes.Client(options...).TryLock(t.Context(), "r", time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				time.AfterFunc(time.Second, func() {
					if test.drop != nil {
						nodes.DropReplies(test.drop...)
					}
					_ = lease.Unlock(context.Background())
					nodes.Heal()
				})
				next, err := nodes.Client(options...).Lock(t.Context(), "r", ttl)
				if err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began).Round(time.Second); waited != test.waits {
					t.Errorf("waited %v, want %v", waited, test.waits)
				}
				unlock(t, next)
			})
		})
	}
}

// In a bubble a service takes the same course every time.
func TestSameCourseEveryTime(t *testing.T) {
	course := func() (text string) {
		synctest.Test(t, func(t *testing.T) {
			nodes := redlocktest.New(t, 5)
			began := time.Now()
			var mu sync.Mutex
			var lines []string
			client := nodes.Client(redlock.WithObserver(observer(func(e observe.Event) {
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, fmt.Sprint(time.Since(began), e.Step, e.Op, e.Node.Node, e.Node.Outcome, e.Late))
			})))
			nodes.Slow(3*time.Millisecond, 1)
			nodes.DropReplies(3)
			nodes.Down(4)
			lease := lock(t, client, "r")
			nodes.Steal("r", time.Second)
			_ = lease.Extend(t.Context(), ttl)
			_ = lease.Unlock(t.Context())
			_, _ = client.TryLock(t.Context(), "r", ttl)
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			text = strings.Join(lines, "\n")
		})
		return text
	}
	first := course()
	if n := strings.Count(first, "\n"); n < 20 {
		t.Fatalf("%d steps:\n%s", n, first)
	}
	for range 20 {
		if again := course(); again != first {
			t.Fatalf("first\n%s\n\nthen\n%s", first, again)
		}
	}
}

type observer func(observe.Event)

func (o observer) Observe(_ context.Context, e observe.Event) { o(e) }

// A lock on one Redis is taken on one node, whatever is done about its failovers, and Forget is one.
func TestOneRedis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 1)
		client, err := single.New(nodes, single.Failover{Guard: &redlock.Guard{MaxTTL: 10 * time.Second}, Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.PrepareGuard(t.Context()); err != nil {
			t.Fatal(err)
		}
		first, err := client.Lock(t.Context(), "r", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		nodes.Forget(0)
		second, err := client.Lock(t.Context(), "r", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(first.Until()); left > 0 {
			t.Errorf("granted again while the first lease has %v left", left)
		}
		if err := errors.Join(second.Unlock(t.Context()), client.Close(t.Context())); err != nil {
			t.Error(err)
		}
		_ = first.Unlock(t.Context()) // it is lost
	})
}
