package redlocktest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/redlocktest"
)

// recorder is a test whose failures another test looks at.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func()
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf ends the test by a panic, which ran takes.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// ran runs a test in a bubble and gives what it failed with, a line each, with files' names instead of their paths.
func ran(t *testing.T, test func(t testing.TB)) (failures string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		func() {
			defer func() {
				if p := recover(); p != nil && p != any(r) {
					panic(p)
				}
			}()
			test(r)
		}()
		for i := len(r.cleanups) - 1; i >= 0; i-- {
			r.cleanups[i]()
		}
		failures = strings.Join(r.failures, "\n")
	})
	return regexp.MustCompile(`/\S*/(\w+\.go):\d+`).ReplaceAllString(failures, "$1")
}

func take(t testing.TB, client *redlock.Client, resource string) *redlock.Lease {
	lease, err := client.TryLock(t.Context(), resource, ttl)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return lease
}

// A lock that was granted and not unlocked fails the test, and nothing else does.
func TestLeaks(t *testing.T) {
	const unlocked = "was never unlocked; it was taken at leak_test.go"
	for name, test := range map[string]struct {
		run  func(t testing.TB, nodes redlocktest.Nodes, client *redlock.Client)
		want string
	}{
		"unlocked": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			_ = take(t, client, "r").Unlock(context.Background())
		}, ""},
		"not unlocked": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			take(t, client, "r")
		}, `redlocktest: the lock of "r" ` + unlocked},
		"two of three": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			take(t, client, "b")
			_ = take(t, client, "r").Unlock(context.Background())
			take(t, client, "a")
		}, "redlocktest: the lock of \"b\" " + unlocked + "\nredlocktest: the lock of \"a\" " + unlocked},
		"several resources": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			_, _ = client.LockAll(t.Context(), []string{"s", "r"}, ttl)
		}, `redlocktest: the lock of "r, s" ` + unlocked},
		"over, and not unlocked": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			take(t, client, "r")
			time.Sleep(2 * ttl)
		}, `redlocktest: the lock of "r" ` + unlocked},
		"by a client of one's own": {func(t testing.TB, nodes redlocktest.Nodes, _ *redlock.Client) {
			own, err := redlock.New(nodes)
			if err != nil {
				t.Fatalf("%v", err)
			}
			take(t, own, "r")
		}, `redlocktest: the lock of "r" ` + unlocked},
		"with fencing": {func(t testing.TB, nodes redlocktest.Nodes, _ *redlock.Client) {
			fenced := nodes.Client(redlock.WithFencing(redlock.Fencing{}))
			_ = take(t, fenced, "r").Unlock(context.Background())
			take(t, nodes.Client(redlock.WithFencing(redlock.Fencing{})), "r") // which is Behind first
		}, `redlocktest: the lock of "r" ` + unlocked},
		"lost, and unlocked": {func(t testing.TB, nodes redlocktest.Nodes, client *redlock.Client) {
			lease := take(t, client, "r")
			nodes.Lose(lease)
			_ = lease.Unlock(context.Background())
		}, ""},
		"unlocked while all nodes are down": {func(t testing.TB, nodes redlocktest.Nodes, client *redlock.Client) {
			lease := take(t, client, "r")
			nodes.Down()
			_ = lease.Unlock(context.Background())
		}, ""},
		"not granted": {func(t testing.TB, nodes redlocktest.Nodes, client *redlock.Client) {
			nodes.DropReplies(0, 1, 2)
			_, _ = client.TryLock(t.Context(), "r", ttl)
		}, ""},
		"under way": {func(t testing.TB, nodes redlocktest.Nodes, _ *redlock.Client) {
			own, err := redlock.New(nodes)
			if err != nil {
				t.Fatalf("%v", err)
			}
			nodes.DropRequests()
			go func() { _, _ = own.TryLock(t.Context(), "r", ttl) }()
			synctest.Wait()
		}, ""},
		"unlocked by a cleanup": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			lease := take(t, client, "r")
			t.Cleanup(func() { _ = lease.Unlock(context.Background()) })
		}, ""},
		"held": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			_ = client.Hold(t.Context(), "r", ttl, redlock.Renewal{}, func(context.Context, *redlock.Lease) error { return nil })
		}, ""},
		"closed by the test": {func(t testing.TB, _ redlocktest.Nodes, client *redlock.Client) {
			_ = client.Close(t.Context())
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ran(t, func(t testing.TB) {
				nodes := redlocktest.New(t, 5)
				test.run(t, nodes, nodes.Client())
			})
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// held is a node whose first batch waits.
type held struct {
	driver.Node
	sending, goOn chan struct{} // nil if it does not wait
}

func (h *held) Do(batch []*driver.Command) {
	if h.sending != nil {
		close(h.sending)
		h.sending = nil
		<-h.goOn
	}
	h.Node.Do(batch)
}

// Where a lock was taken is left out if another call sent its command: a client sends together what is asked for at once.
func TestPlaceIsTheCallers(t *testing.T) {
	got := ran(t, func(t testing.TB) {
		nodes := redlocktest.New(t, 3)
		first := &held{nodes[0], make(chan struct{}), make(chan struct{})}
		client, err := redlock.New([]driver.Node{first, &held{Node: nodes[1]}, &held{Node: nodes[2]}})
		if err != nil {
			t.Fatalf("%v", err)
		}
		var all sync.WaitGroup
		sending := first.sending
		all.Go(func() { take(t, client, "sends") })
		<-sending
		all.Go(func() { take(t, client, "is sent") })
		synctest.Wait()
		close(first.goOn)
		all.Wait()
	})
	const want = `redlocktest: the lock of "sends" was never unlocked; it was taken at leak_test.go` + "\n" +
		`redlocktest: the lock of "is sent" was never unlocked`
	if sorted := strings.Split(got, "\n"); len(sorted) != 2 || got != want && sorted[1]+"\n"+sorted[0] != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is under way when the test ends is never answered, since the test cannot be told of anything any more.
func TestNothingHappensAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		nodes := redlocktest.New(r, 1)
		ask := func() {
			nodes[0].Do([]*driver.Command{{Op: driver.OpAcquire, Keys: []string{"r"}, Value: "v", TTL: ttl,
				Done: func(*driver.Command, driver.Reply) { t.Error("answered") }}})
		}
		nodes.Slow(time.Hour)
		ask()
		r.cleanups[0]()
		ask()
		nodes.Heal()
		time.Sleep(2 * time.Hour)
	})
}

// What makes no sense fails the test, and says why.
func TestMistakes(t *testing.T) {
	for want, test := range map[string]func(t testing.TB){
		"redlocktest: 0 nodes, must be from 1 to 64":                  func(t testing.TB) { redlocktest.New(t, 0) },
		"redlocktest: 65 nodes, must be from 1 to 64":                 func(t testing.TB) { redlocktest.New(t, 65) },
		"redlocktest: Down: there is no node 3, the last one is 2":    func(t testing.TB) { redlocktest.New(t, 3).Down(0, 3) },
		"redlocktest: Forget: there is no node -1, the last one is 2": func(t testing.TB) { redlocktest.New(t, 3).Forget(-1) },
		"redlocktest: redlock: invalid argument: node timeout 0s is not positive": func(t testing.TB) {
			redlocktest.New(t, 3).Client(redlock.WithNodeTimeout(0))
		},
		`redlocktest: Lose: the lease of "r" was not taken on these nodes`: func(t testing.TB) {
			lease := take(t, redlocktest.New(t, 3).Client(), "r")
			defer lease.Unlock(context.Background())
			redlocktest.New(t, 3).Lose(lease)
		},
		`redlocktest: Lose: the lease of "r" could not be lost: redlock: extend "r": no quorum of nodes ` +
			"(node-0 refused: dial tcp: connect: connection refused; node-1 refused: dial tcp: connect: connection refused; node-2 unanswered)": func(t testing.TB) {
			nodes := redlocktest.New(t, 3)
			lease := take(t, nodes.Client(), "r")
			defer lease.Unlock(context.Background())
			nodes.Down()
			nodes.Lose(lease)
		},
	} {
		if got := ran(t, test); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
