//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// unwoken notes which commands came with a driver.ErrWakeUp, and its texts.
type unwoken struct {
	mu   sync.Mutex
	said map[string]string // by the operation and the outcome
}

func (u *unwoken) Observe(_ context.Context, e observe.Event) {
	if e.Step == observe.NodeAnswered && errors.Is(e.Node.Err, driver.ErrWakeUp) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.said[fmt.Sprint(e.Op, " ", e.Node.Outcome)] = e.Node.Err.Error()
	}
}

func (u *unwoken) texts() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := map[string]string{}
	for what, text := range u.said {
		all[what] = text
	}
	return all
}

// waking are the options of a client that is woken, or asks again soon.
func waking(seen *unwoken) []redlock.Option {
	return []redlock.Option{redlock.WithWakeUp(time.Millisecond), redlock.WithNodeTimeout(time.Second), redlock.WithObserver(seen),
		redlock.WithRetryDelay(20*time.Millisecond, 20*time.Millisecond)}
}

// lockRules are the rules of an ACL that allow what a lock needs, of the commands that the server has.
func lockRules(t *testing.T, admin *redis.Client) string {
	rules := "~* +eval +evalsha +set +get +exists +del +pttl +pexpire +ping"
	for _, rule := range []string{"+delifeq", "+delex"} {
		if admin.Do(t.Context(), "acl", "setuser", "u", rule).Err() == nil {
			rules += " " + rule
		}
	}
	return rules
}

// A server that does not let its user publish or subscribe votes all the same. Its answers say so at the first release and the
// first wait, to observers and in the error of a wait, and no longer once it lets him.
func wakeUpForbidden(t *testing.T, a Adapter) {
	server := redisserver.Start(t)
	admin := Admin(t, server.Addr)
	allow := func(t *testing.T, rules string) {
		t.Helper()
		args := append([]any{"acl", "setuser", "u", "reset", "on", ">p"}, words(rules)...)
		if err := admin.Do(t.Context(), args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	known := lockRules(t, admin)
	for _, test := range []struct {
		name, rules           string
		publishes, subscribes bool
	}{
		{"all", known + " +publish +subscribe +unsubscribe &*", true, true},
		{"nothing", known, false, false},
		{"no channels", known + " +publish +subscribe +unsubscribe", false, false},
		{"no publish", known + " +subscribe +unsubscribe &*", false, true},
		{"no subscribe", known + " +publish &*", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			allow(t, test.rules)
			seen := &unwoken{said: map[string]string{}}
			open := func() *redlock.Client {
				return a.one(t, server.Addr, Config{Username: "u", Password: "p"}, waking(seen)...)
			}
			holder, waiter := open(), open()
			lease, err := holder.Lock(t.Context(), "r", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			const waits = "acquire declined"
			var said bool
			for began := time.Now(); ; {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				_, err = waiter.Lock(ctx, "r", time.Minute)
				cancel()
				if !errors.Is(err, redlock.ErrTaken) {
					t.Fatal(err)
				}
				said = strings.Contains(err.Error(), "no wake-up: waiting calls poll, as the server forbids what they listen with: NOPERM")
				// The error of a call that ends while an attempt is unanswered has no answer to show.
				if test.subscribes || said && seen.texts()[waits] != "" || time.Since(began) > Patience {
					break
				}
			}
			if said == test.subscribes || (seen.texts()[waits] == "") != test.subscribes {
				t.Errorf("of subscribing: %v, and %q", err, seen.texts())
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if text := seen.texts()["release accepted"]; (text == "") != test.publishes ||
				!test.publishes && !strings.Contains(text, "no wake-up: the release woke nobody: ") {
				t.Errorf("of publishing: %q", seen.texts())
			}
		})
	}
}

// listenedTo is a server on which another has the lock "r", and which may refuse to be listened to.
func listenedTo(t *testing.T, refuses *atomic.Bool) *miniredis.Miniredis {
	m := miniredis.RunT(t)
	if err := m.Set("r", "another's"); err != nil {
		t.Fatal(err)
	}
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "SUBSCRIBE" || !refuses.Load() {
			return false
		}
		c.WriteError("ERR max number of clients reached")
		return true
	})
	return m
}

// Where listening fails for another reason, refused calls are told so for as long as it does, and for as long as somebody
// listens.
func wakeUpFails(t *testing.T, a Adapter) {
	var refuses atomic.Bool
	m := listenedTo(t, &refuses)
	seen := &unwoken{said: map[string]string{}}
	client := a.one(t, m.Addr(), Config{}, waking(seen)...)
	const text = "no wake-up: waiting calls poll, as what they listen with fails: "
	refused := func() string {
		_, err := client.TryLock(t.Context(), "r", time.Minute)
		if !errors.Is(err, redlock.ErrTaken) {
			t.Fatal(err)
		}
		return err.Error()
	}
	wait := func() (stop func() error) {
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error, 1)
		go func() { _, err := client.Lock(ctx, "r", time.Minute); waited <- err }()
		return func() error { cancel(); return <-waited }
	}
	if got := refused(); strings.Contains(got, text) {
		t.Errorf("before anybody listens: %s", got)
	}
	refuses.Store(true)
	stop := wait()
	Eventually(t, Patience, "a refused call is told", func() bool { return strings.Contains(refused(), text) })
	if said := seen.texts()["acquire declined"]; !strings.Contains(said, text) {
		t.Errorf("observers are told %q", said)
	}
	if err := stop(); !errors.Is(err, redlock.ErrTaken) || errors.Is(err, driver.ErrWakeUp) {
		t.Error(err)
	}
	Eventually(t, Patience, "nobody listens", func() bool { return !strings.Contains(refused(), text) })

	stop = wait()
	Eventually(t, Patience, "a refused call is told again", func() bool { return strings.Contains(refused(), text) })
	refuses.Store(false)
	Eventually(t, Patience, "it works", func() bool { return !strings.Contains(refused(), text) })
	if n := m.PubSubNumSub(driver.WakeChannel("r"))[driver.WakeChannel("r")]; n != 1 {
		t.Errorf("%d listen", n)
	}
	if err := stop(); !errors.Is(err, redlock.ErrTaken) {
		t.Error(err)
	}
	Eventually(t, Patience, "nobody listens", func() bool {
		return m.PubSubNumSub(driver.WakeChannel("r"))[driver.WakeChannel("r")] == 0
	})
	if got := refused(); strings.Contains(got, text) {
		t.Errorf("what nobody needed any more failed: %s", got)
	}
}
