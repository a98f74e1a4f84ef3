package locktest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// strays are calls of an Env from goroutines that a lock has started by itself. They would run beside the simulator, and
// change a run at a moment that nothing decides. So none is carried out, and the first fails the test: runs of that lock
// prove nothing.
type strays struct {
	once  sync.Once
	first *strayCall
	come  chan struct{} // is closed once first is there
}

func newStrays() *strays { return &strays{come: make(chan struct{})} }

// strayCall is the error about such a call.
type strayCall struct{ client, call, at string }

func (s *strayCall) Error() string {
	return fmt.Sprintf("%s has called %s from a goroutine of its own, at %s, which nothing in a simulated run can wait for: "+
		"start goroutines by Env.Runtime.Tasks, or test the lock as it is, as a Setup.Program", s.client, s.call, s.at)
}

// err is the error about the first stray call; nil if there was none. s may be nil.
func (s *strays) err() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.come:
		return s.first
	default:
		return nil
	}
}

// guard stands before what a client's lock is handed.
type guard struct {
	*strays
	client string
}

// check ends the calling goroutine, and notes the call, if the simulator does not run it.
func (g *guard) check(call string) {
	if kernel.Entered() {
		return
	}
	stray := &strayCall{g.client, call, outside()}
	g.once.Do(func() {
		g.first = stray
		close(g.come)
	})
	runtime.Goexit()
}

// outside is where the code is that called this package.
func outside() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "redlocksim/locktest.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

var errEnded = errors.New("Setup.Lock has ended the goroutine that it was called on, as t.Fatal does: return an error, or panic")

// guarding runs something in which a lock may make stray calls. If one comes, it returns at once: the lock may be waiting for
// the goroutine whose call was refused. s is nil for a lock that cannot make any.
func guarding[T any](s *strays, run func() (T, error)) (T, error) {
	switch err := s.err(); {
	case err != nil:
		return *new(T), err
	case s == nil:
		return run()
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errEnded}
		defer func() { done <- o }()
		o.value, o.err = run()
	}()
	var o outcome
	select {
	case o = <-done:
	case <-s.come:
	}
	if err := s.err(); err != nil {
		return *new(T), err
	}
	return o.value, o.err
}

// runtime is a runtime of which every call is checked. The types below do the same for the other seams; names are given out
// unchecked.
func (g *guard) runtime(r driver.Runtime) driver.Runtime {
	return driver.Runtime{Clock: guardedClock{r.Clock, g}, Tasks: guardedTasks{r.Tasks, g}, Rand: guardedRand{r, g}}
}

type guardedRand struct {
	driver.Runtime
	guard *guard
}

func (r guardedRand) Read(b []byte) (int, error) {
	r.guard.check("Env.Runtime.Rand.Read")
	return r.Rand.Read(b)
}

type guardedClock struct {
	driver.Clock
	guard *guard
}

func (c guardedClock) Now() time.Time {
	c.guard.check("Env.Runtime.Clock.Now")
	return c.Clock.Now()
}

func (c guardedClock) AfterFunc(d time.Duration, f func()) driver.Timer {
	c.guard.check("Env.Runtime.Clock.AfterFunc")
	return guardedTimer{c.Clock.AfterFunc(d, f), c.guard}
}

func (c guardedClock) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	c.guard.check("Env.Runtime.Clock.WithCancel")
	ctx, cancel := c.Clock.WithCancel(parent)
	return ctx, func(cause error) {
		c.guard.check("the cancel function of Env.Runtime.Clock.WithCancel")
		cancel(cause)
	}
}

func (c guardedClock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	c.guard.check("Env.Runtime.Clock.WithDeadline")
	ctx, cancel := c.Clock.WithDeadline(parent, t)
	return ctx, func() {
		c.guard.check("the cancel function of Env.Runtime.Clock.WithDeadline")
		cancel()
	}
}

type guardedTimer struct {
	timer driver.Timer
	guard *guard
}

func (t guardedTimer) Stop() bool {
	t.guard.check("Timer.Stop")
	return t.timer.Stop()
}

func (t guardedTimer) Reset(d time.Duration) {
	t.guard.check("Timer.Reset")
	t.timer.Reset(d)
}

type guardedTasks struct {
	tasks driver.Tasks
	guard *guard
}

func (t guardedTasks) Start(f func()) {
	t.guard.check("Env.Runtime.Tasks.Start")
	t.tasks.Start(f)
}

func (t guardedTasks) NewWaiter() driver.Waiter {
	t.guard.check("Env.Runtime.Tasks.NewWaiter")
	return guardedWaiter{t.tasks.NewWaiter(), t.guard}
}

type guardedWaiter struct {
	waiter driver.Waiter
	guard  *guard
}

func (w guardedWaiter) Wait(ctx context.Context) {
	w.guard.check("Waiter.Wait")
	w.waiter.Wait(ctx)
}

func (w guardedWaiter) Wake() {
	w.guard.check("Waiter.Wake")
	w.waiter.Wake()
}

type guardedNode struct {
	driver.Listener // as every node of the simulator is one
	guard           *guard
}

func (n guardedNode) Do(batch []*driver.Command) {
	n.guard.check("Env.Nodes.Do")
	n.Listener.Do(batch)
}

func (n guardedNode) Listen(channel string, heard func(message string)) (stop func()) {
	n.guard.check("Env.Nodes.Listen")
	stop = n.Listener.Listen(channel, heard)
	return func() {
		n.guard.check("the stop function of Env.Nodes.Listen")
		stop()
	}
}

type guardedRedis struct {
	protocols.Redis
	guard *guard
}

func (r guardedRedis) Do(deadline time.Time, q rediscmd.Request) rediscmd.Reply {
	call := "Env.Redis.Do"
	if q.Script != nil {
		call = "Env.Redis.Script"
	}
	r.guard.check(call)
	return r.Redis.Do(deadline, q)
}

func (r guardedRedis) Subscribe(channel string) protocols.Subscription {
	r.guard.check("Env.Redis.Subscribe")
	return guardedSubscription{r.Redis.Subscribe(channel), r.guard}
}

type guardedSubscription struct {
	subscription protocols.Subscription
	guard        *guard
}

func (s guardedSubscription) Confirm(ctx context.Context, deadline time.Time) error {
	s.guard.check("Subscription.Confirm")
	return s.subscription.Confirm(ctx, deadline)
}

func (s guardedSubscription) Next(ctx context.Context, deadline time.Time) (string, error) {
	s.guard.check("Subscription.Next")
	return s.subscription.Next(ctx, deadline)
}

func (s guardedSubscription) Close() {
	s.guard.check("Subscription.Close")
	s.subscription.Close()
}
