package locktest_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/locktest"
	"redlocksim/redlock/driver"
)

// strayLock is a lock that does something else when it is asked for a lock, and then is the lock of plain commands.
type strayLock struct {
	redisLock
	do func(ctx context.Context, env *locktest.Env)
}

func (x *strayLock) TryLock(ctx context.Context, resource string, ttl time.Duration) (locktest.Lease, error) {
	x.do(ctx, x.env)
	return x.redisLock.TryLock(ctx, resource, ttl)
}

func straying(do func(ctx context.Context, env *locktest.Env)) func(*locktest.Env) (locktest.Locker, error) {
	return func(env *locktest.Env) (locktest.Locker, error) {
		return &strayLock{redisLock{env: env, keep: 100 * time.Millisecond}, do}, nil
	}
}

// calm is an experiment without faults, in which two clients take the lock one after the other.
var calm = plan("lock: {ttl: 2s}\nnodes: {names: [A]}", "", "{at: 0s, client: client-1, do: [try-lock, unlock]}", "{at: 1s, client: client-2, do: [try-lock, unlock]}")

func judgeStray(do func(ctx context.Context, env *locktest.Env)) *recorder {
	return record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, calm, 0, straying(do))) })
}

// wantStray checks that a test has failed because of a call from a goroutine of the lock's own, and without a verdict.
func wantStray(t *testing.T, r *recorder, call string) {
	t.Helper()
	log := r.log.String()
	want := "locktest: client-1 has called " + call + " from a goroutine of its own, at guard_test.go:"
	if !r.failed || r.skipped || !strings.HasPrefix(log, want) || !strings.Contains(log, "by Env.Runtime.Tasks, or test the lock as it is, as a Setup.Program") || strings.Contains(log, "mutual exclusion") {
		t.Errorf("failed %v, skipped %v, want %q: %s", r.failed, r.skipped, want, log)
	}
}

// calls are those of what a lock is handed that reach into the run.
var calls = map[string]func(ctx context.Context, env *locktest.Env){
	"Env.Wall":       func(_ context.Context, env *locktest.Env) { env.Wall() },
	"Env.Sleep":      func(ctx context.Context, env *locktest.Env) { env.Sleep(ctx, time.Second) },
	"Env.Believe":    func(ctx context.Context, env *locktest.Env) { env.Believe(ctx, time.Time{}) },
	"Env.Disbelieve": func(ctx context.Context, env *locktest.Env) { env.Disbelieve(ctx, "so") },
	"Env.Step":       func(ctx context.Context, env *locktest.Env) { env.Step(ctx, locktest.Step{Name: "x"}) },
	"Env.Attempt":    func(ctx context.Context, env *locktest.Env) { env.Attempt(ctx, 2) },
	"Env.Thread":     func(ctx context.Context, env *locktest.Env) { env.Thread(ctx) },
	"Env.Nodes.Do": func(_ context.Context, env *locktest.Env) {
		env.Nodes[0].Do([]*driver.Command{{Op: driver.OpAcquire, Keys: []string{"R"}, Value: "v", TTL: time.Second,
			Done: func(*driver.Command, driver.Reply) {}}})
	},
	"Env.Nodes.Listen": func(_ context.Context, env *locktest.Env) {
		env.Nodes[0].(driver.Listener).Listen("c", func(string) {})
	},
	"Env.Redis.Do": func(_ context.Context, env *locktest.Env) { _, _ = env.Redis[0].Do(time.Unix(1, 0), "GET", "R") },
	"Env.Redis.Script": func(_ context.Context, env *locktest.Env) {
		_, _ = env.Redis[0].Script(time.Unix(1, 0), "return 0", nil, nil)
	},
	"Env.Redis.Subscribe":         func(_ context.Context, env *locktest.Env) { env.Redis[0].Subscribe("c") },
	"Env.Runtime.Rand.Read":       func(_ context.Context, env *locktest.Env) { _, _ = env.Runtime.Rand.Read(make([]byte, 1)) },
	"Env.Runtime.Clock.Now":       func(_ context.Context, env *locktest.Env) { env.Runtime.Clock.Now() },
	"Env.Runtime.Clock.AfterFunc": func(_ context.Context, env *locktest.Env) { env.Runtime.Clock.AfterFunc(time.Second, func() {}) },
	"Env.Runtime.Clock.WithCancel": func(ctx context.Context, env *locktest.Env) {
		env.Runtime.Clock.WithCancel(ctx)
	},
	"Env.Runtime.Clock.WithDeadline": func(ctx context.Context, env *locktest.Env) {
		_, cancel := env.Runtime.Clock.WithDeadline(ctx, time.Unix(1, 0))
		cancel()
	},
	"Env.Runtime.Tasks.Start":     func(_ context.Context, env *locktest.Env) { env.Runtime.Tasks.Start(func() {}) },
	"Env.Runtime.Tasks.NewWaiter": func(_ context.Context, env *locktest.Env) { env.Runtime.Tasks.NewWaiter() },
}

// later are calls of what comes of an earlier one, which is made where it may be.
func later(ctx context.Context, env *locktest.Env) map[string]func() {
	timer, waiter := env.Runtime.Clock.AfterFunc(time.Second, func() {}), env.Runtime.Tasks.NewWaiter()
	_, cancel := env.Runtime.Clock.WithCancel(ctx)
	_, end := env.Runtime.Clock.WithDeadline(ctx, env.Runtime.Clock.Now().Add(time.Second))
	heard := env.Redis[0].Subscribe("c")
	return map[string]func(){
		"Timer.Stop":  func() { timer.Stop() },
		"Timer.Reset": func() { timer.Reset(time.Minute) },
		"Waiter.Wait": func() { waiter.Wait(ctx) },
		"Waiter.Wake": waiter.Wake,
		"the cancel function of Env.Runtime.Clock.WithCancel":   func() { cancel(nil) },
		"the cancel function of Env.Runtime.Clock.WithDeadline": end,
		"the stop function of Env.Nodes.Listen":                 env.Nodes[0].(driver.Listener).Listen("c", func(string) {}),
		"Subscription.Close":                                    heard.Close,
		"Subscription.Confirm":                                  func() { _ = heard.Confirm(ctx, time.Unix(1, 0)) },
		"Subscription.Next":                                     func() { _, _ = heard.Next(ctx, time.Unix(1, 0)) },
	}
}

var laterCalls = []string{"Timer.Stop", "Timer.Reset", "Waiter.Wait", "Waiter.Wake", "the cancel function of Env.Runtime.Clock.WithCancel",
	"the cancel function of Env.Runtime.Clock.WithDeadline", "the stop function of Env.Nodes.Listen",
	"Subscription.Close", "Subscription.Confirm", "Subscription.Next"}

// Every call is refused to a goroutine that the lock has started itself, and the test fails and says which. Where the lock made
// it itself, it is what a lock does.
func TestCallsFromAGoroutineOfTheLocksOwn(t *testing.T) {
	for _, call := range slices.Concat(slices.Sorted(maps.Keys(calls)), laterCalls) {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			wantStray(t, judgeStray(func(ctx context.Context, env *locktest.Env) {
				f := later(ctx, env)[call]
				if now := calls[call]; now != nil {
					f = func() { now(ctx, env) }
				}
				returned := make(chan struct{})
				go func() {
					defer close(returned)
					f()
				}()
				<-returned
			}), call)
		})
	}
	if r := judgeStray(func(ctx context.Context, env *locktest.Env) {
		env.Wall()
		later(ctx, env)["Timer.Stop"]()
		later(ctx, env)["Waiter.Wake"]()
	}); r.failed {
		t.Errorf("called as it may be: %s", &r.log)
	}
}

// A goroutine calls while another client runs.
func TestAStrayGoroutineBesideTheRun(t *testing.T) {
	other, called := make(chan struct{}), make(chan struct{})
	r := judgeStray(func(_ context.Context, env *locktest.Env) {
		if env.Name == "client-1" {
			go func() {
				defer close(called)
				<-other
				env.Wall()
			}()
			return
		}
		close(other)
		<-called
	})
	wantStray(t, r, "Env.Wall")
}

// A goroutine is left over from a run, and calls when it is over: the next one fails.
func TestAStrayGoroutineAfterTheRun(t *testing.T) {
	over, called := make(chan struct{}), make(chan struct{})
	started := false
	e := locktest.Parse(t, calm, 0, straying(func(_ context.Context, env *locktest.Env) {
		if env.Name == "client-1" && !started {
			started = true
			go func() {
				defer close(called)
				<-over
				env.Wall()
			}()
		}
	}))
	if r := record(func(t rapid.TB) { locktest.MutualExclusion(t, e) }); r.failed {
		t.Fatalf("nobody has called yet: %s", &r.log)
	}
	close(over)
	<-called
	wantStray(t, record(func(t rapid.TB) { locktest.MutualExclusion(t, e) }), "Env.Wall")
	wantStray(t, record(func(t rapid.TB) { locktest.Breaks(t, e) }), "Env.Wall")
}

// A lock that asks its nodes from goroutines fails a whole test of drawn experiments with that error, also where it is made.
func TestALockWithGoroutinesOfItsOwn(t *testing.T) {
	fixed(t, "1")
	for where, lock := range map[string]func(*locktest.Env) (locktest.Locker, error){
		"TryLock": straying(func(_ context.Context, env *locktest.Env) {
			answered := make(chan error)
			go func() {
				_, err := env.Redis[0].Do(time.Unix(1, 0), "GET", "R")
				answered <- err
			}()
			<-answered
		}),
		"New": func(env *locktest.Env) (locktest.Locker, error) {
			pinged := make(chan error)
			go func() {
				_, err := env.Redis[0].Do(time.Unix(1, 0), "PING")
				pinged <- err
			}()
			return nil, errors.Join(errors.New("no node answers"), <-pinged)
		},
	} {
		r := check(locktest.Setup{Settings: "lock: {ttl: 2s}\nnodes: {names: [A]}", Lock: lock})
		want := "has called Env.Redis.Do from a goroutine of its own, at guard_test.go:"
		if log := r.log.String(); !r.failed || !strings.Contains(log, want) || strings.Contains(log, "mutual exclusion") || strings.Contains(log, "flaky") {
			t.Errorf("%s: failed %v: %s", where, r.failed, log)
		}
	}
}

// A lock that ends the goroutine it is called on, as t.Fatal does, fails the test with that error, and does not hang it.
func TestALockThatEndsItsGoroutine(t *testing.T) {
	for where, lock := range map[string]func(*locktest.Env) (locktest.Locker, error){
		"New":     func(*locktest.Env) (locktest.Locker, error) { runtime.Goexit(); return nil, nil },
		"TryLock": straying(func(context.Context, *locktest.Env) { runtime.Goexit() }),
	} {
		r := record(func(t rapid.TB) { locktest.MutualExclusion(t, locktest.Parse(t, calm, 0, lock)) })
		if log := r.log.String(); !r.failed || !strings.HasPrefix(log, "locktest: Setup.Lock has ended the goroutine") {
			t.Errorf("%s: failed %v: %s", where, r.failed, log)
		}
	}
}
