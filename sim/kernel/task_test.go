package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var background = context.Background()

// talk runs programs of one process, and collects what they say.
type talk struct {
	k    *Kernel
	p    *Process
	said strings.Builder
}

func newTalk() *talk {
	k := New(Config{Seed: 1})
	return &talk{k: k, p: k.NewProcess("p", Monotonic)}
}

func (s *talk) say(format string, args ...any) {
	fmt.Fprintf(&s.said, "%d %s; ", s.k.now, fmt.Sprintf(format, args...))
}

func (s *talk) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.TrimSuffix(s.said.String(), "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWaiter(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*talk, *waiter, *simContext)
		want string
	}{
		{"a wake-up that came first is kept, once", func(s *talk, w *waiter, _ *simContext) {
			w.Wake()
			w.Wake()
			w.Wait(background)
			s.say("a")
			s.p.after(5, w.Wake)
			w.Wait(background)
			s.say("b")
		}, "0 a; 5 b"},
		{"a wake-up between waking and running is kept", func(s *talk, w *waiter, _ *simContext) {
			s.p.after(5, func() { w.Wake(); w.Wake() })
			w.Wait(background)
			w.Wait(background)
			s.say("a")
		}, "5 a"},
		{"the context ends", func(s *talk, w *waiter, c *simContext) {
			s.p.after(5, func() { c.end(context.Canceled, nil) })
			w.Wait(c)
			s.say("%v", c.Err())
			w.Wait(c)
			s.say("at once")
		}, "5 context canceled; 5 at once"},
		{"an end is not kept", func(s *talk, w *waiter, c *simContext) {
			s.p.after(5, func() { c.end(context.Canceled, nil) })
			w.Wait(c)
			s.p.after(5, w.Wake)
			w.Wait(background)
			s.say("a")
		}, "10 a"},
		{"an end between waking and running is not kept", func(s *talk, w *waiter, c *simContext) {
			s.p.after(5, func() { w.Wake(); c.end(context.Canceled, nil) })
			w.Wait(c)
			s.p.after(5, w.Wake)
			w.Wait(background)
			s.say("a")
		}, "10 a"},
		{"a context that outlives the wait forgets it", func(s *talk, w *waiter, c *simContext) {
			s.p.after(5, w.Wake)
			w.Wait(c)
			s.say("%d", len(c.waiters))
		}, "5 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newTalk()
			defer s.k.Close()
			s.p.Go(func() { test.run(s, &waiter{process: s.p}, newContext(background)) })
			s.k.Run(100)
			s.want(t, test.want)
		})
	}
	if !panics(func() { s := newTalk(); (&waiter{process: s.p}).Wait(background) }) {
		t.Error("waiting outside of a task is possible")
	}
}

func TestTasksGoOnInTheOrderOfWaking(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	var waiters [4]waiter
	for i := range waiters {
		waiters[i].process = s.p
		s.p.Go(func() { waiters[i].Wait(background); s.say("%d", i) })
	}
	s.k.Run(1)
	for _, i := range []int{2, 0, 3, 1} {
		waiters[i].Wake()
	}
	s.k.Run(2)
	s.want(t, "1 2; 1 0; 1 3; 1 1")
}

func TestContextEndsItsChildrenInOrder(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	clock := s.p.ProgramClock()
	root, cancel := clock.WithCancel(context.WithValue(background, simContextKey{}, nil))
	parent := root
	for i := range 3 {
		ctx, _ := clock.WithCancel(context.WithValue(parent, valueKey{}, i))
		for j := range 2 {
			s.p.Go(func() {
				w := waiter{process: s.p}
				w.Wait(ctx)
				s.say("%v %d.%d", ctx.Value(valueKey{}), i, j)
			})
		}
		if i == 1 {
			parent = ctx // the third is the second's child
		}
	}
	free := context.WithoutCancel(parent)
	s.k.Run(1)
	cancel(nil)
	s.k.Run(2)
	s.want(t, "1 0 0.0; 1 0 0.1; 1 2 2.0; 1 2 2.1; 1 1 1.0; 1 1 1.1")
	if free.Err() != nil || free.Value(valueKey{}) != 1 {
		t.Errorf("without cancel: %v, %v", free.Err(), free.Value(valueKey{}))
	}
	if late, _ := clock.WithCancel(parent); late.Err() != context.Canceled {
		t.Errorf("a child of a context that ended: %v", late.Err())
	}
}

// Who asked is told of the end of a context before who waits for it goes on: at once if it is over, and never of one that has
// no end.
func TestWhenEnded(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	ctx, cancel := s.p.ProgramClock().WithCancel(background)
	s.p.Go(func() {
		w := waiter{process: s.p}
		w.Wait(ctx)
		s.say("goes on")
	})
	s.k.Run(1)
	WhenEnded(background, func() { s.say("no end") })
	WhenEnded(ctx, func() { s.say("%v", ctx.Err()) })
	cancel(nil)
	WhenEnded(ctx, func() { s.say("at once") })
	s.k.Run(2)
	s.want(t, "1 context canceled; 1 at once; 1 goes on")
}

func TestDeadlines(t *testing.T) {
	for _, kind := range []ClockKind{Monotonic, Boottime, WallClock} {
		k := New(Config{Seed: 1})
		p := k.NewProcess("p", kind)
		k.Run(3)
		clock := p.ProgramClock()
		at := func(d time.Duration) time.Time { return clock.Now().Add(d) }
		parent, _ := clock.WithDeadline(background, at(20))
		sooner, stop := clock.WithDeadline(parent, at(10))
		later, _ := clock.WithDeadline(parent, at(30))
		stopped, cancel := clock.WithDeadline(parent, at(10))
		timers := len(k.queue)
		cancel()
		defer stop()
		if len(k.queue) != timers-1 {
			t.Error("the timer of a context that was cancelled is left")
		}
		if d, ok := later.Deadline(); !ok || !d.Equal(at(20)) {
			t.Errorf("a child's deadline is %v, want its parent's", d)
		}
		for _, step := range []struct {
			now  True
			want [4]error
		}{
			{12, [4]error{nil, nil, nil, context.Canceled}},
			{13, [4]error{context.DeadlineExceeded, nil, nil, context.Canceled}},
			{23, [4]error{context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded, context.Canceled}},
		} {
			k.Run(step.now)
			if got := [4]error{sooner.Err(), parent.Err(), later.Err(), stopped.Err()}; got != step.want {
				t.Errorf("kind %v, at %d: %v, want %v", kind, step.now, got, step.want)
			}
		}
	}
}

func TestDeadlineThatHasPassed(t *testing.T) {
	k := New(Config{Seed: 1})
	clock := k.NewProcess("p", Monotonic).ProgramClock()
	for _, d := range []time.Duration{0, -time.Second} {
		if ctx, _ := clock.WithDeadline(background, clock.Now().Add(d)); ctx.Err() != context.DeadlineExceeded {
			t.Errorf("%v from now: %v", d, ctx.Err())
		}
	}
}

func TestContextKeepsItsCause(t *testing.T) {
	clock := New(Config{Seed: 1}).NewProcess("p", Monotonic).ProgramClock()
	why := errors.New("why")
	parent, cancel := clock.WithCancel(background)
	child, _ := clock.WithDeadline(parent, clock.Now().Add(time.Second))
	cancel(why)
	for name, ctx := range map[string]context.Context{"itself": parent, "its child": child, "with a value": context.WithValue(parent, valueKey{}, 1)} {
		if got := context.Cause(ctx); got != why {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestForeignContextsAreRefused(t *testing.T) {
	s := newTalk()
	ours, _ := s.p.ProgramClock().WithCancel(background)
	derived, cancel := context.WithCancel(ours)
	defer cancel()
	foreign, cancel := context.WithCancel(background)
	defer cancel()
	for name, ctx := range map[string]context.Context{"foreign": foreign, "derived": derived} {
		if !panics(func() { lookup(ctx) }) {
			t.Errorf("%s: taken", name)
		}
		if !panics(func() { s.p.ProgramClock().WithCancel(ctx) }) {
			t.Errorf("%s: taken as a parent", name)
		}
	}
	for name, ctx := range map[string]context.Context{"background": background, "without cancel": context.WithoutCancel(foreign)} {
		if lookup(ctx) != nil {
			t.Errorf("%s: ends with something", name)
		}
	}
	if lookup(context.WithValue(ours, valueKey{}, 1)) != ours {
		t.Error("a context with a value is not seen through")
	}
}

// caught is what Run panics with.
func caught(k *Kernel) (v any) {
	defer func() { v = recover() }()
	k.Run(100)
	return nil
}

func TestPanicsNameProcessAndStep(t *testing.T) {
	k := New(Config{Seed: 1})
	p := k.NewProcess("alice", Monotonic)
	other := k.NewProcess("bob", Monotonic)
	other.Go(func() { defer func() { _ = recover() }(); panic("kept to itself") })
	unwound := false
	other.Go(func() {
		defer func() { unwound = true }()
		(&waiter{process: other}).Wait(background)
	})
	k.After(5, func() { p.Go(func() { panic("boom") }) })
	v, _ := caught(k).(*Panic)
	if v == nil || v.Process != "alice" || v.At != 5 || v.Step != 4 || v.Value != "boom" || !strings.Contains(string(v.Stack), "task_test.go") {
		t.Fatalf("%+v", v)
	}
	if text := v.Error(); !strings.HasPrefix(text, "sim: alice panics at step 4, 0.000000s: boom") {
		t.Error(text)
	}
	k.Close()
	if !unwound {
		t.Error("the other tasks are still there")
	}
}

func TestPanicsAreWrappedOnce(t *testing.T) {
	k := New(Config{Seed: 1})
	a, b := k.NewProcess("a", Monotonic), k.NewProcess("b", Monotonic)
	a.Go(func() { b.Tasks().Start(func() { panic("boom") }) })
	if v, _ := caught(k).(*Panic); v == nil || v.Process != "b" || v.Value != "boom" {
		t.Errorf("%s: value %T", v.Process, v.Value)
	}
}

func TestPanicsInEventsNameProcessAndStep(t *testing.T) {
	k := New(Config{Seed: 1})
	p := k.NewProcess("alice", Monotonic)
	p.after(5, func() { panic("boom") })
	if v, _ := caught(k).(*Panic); v == nil || v.Process != "alice" || v.Step != 1 {
		t.Errorf("%v", v)
	}
}

func TestRunsAreBounded(t *testing.T) {
	for _, test := range []struct {
		max  int
		does bool
	}{{20, false}, {19, true}} {
		k := New(Config{Limits: Limits{Steps: test.max}})
		left := 20
		var f func()
		f = func() {
			if left--; left > 0 {
				k.After(0, f)
			}
		}
		k.After(0, f)
		v := caught(k)
		if (v != nil) != test.does || test.does && !strings.Contains(fmt.Sprint(v), "more than 19 steps") {
			t.Errorf("at most %d: %v", test.max, v)
		}
	}
}

func TestRunStopsAfterUntil(t *testing.T) {
	s := newTalk()
	for _, d := range []time.Duration{9, 10, 11} {
		s.k.After(d, func() { s.say("event") })
	}
	s.k.After(10, func() { s.k.After(0, func() { s.say("same time") }) })
	s.k.Run(10)
	if s.k.Now() != 10 || s.k.Steps() != 4 {
		t.Errorf("now %d after %d steps", s.k.Now(), s.k.Steps())
	}
	s.want(t, "9 event; 10 event; 10 same time")
	s.k.Run(5)
	if s.k.Now() != 10 {
		t.Errorf("true time fell to %d", s.k.Now())
	}
}

// TestCloseEndsEveryCoroutine: those that wait, that have crashed, that are paused or ready, that wait again or start
// tasks on their way out, and those that are idle.
func TestCloseEndsEveryCoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := newTalk()
	left := 0
	park := func(p *Process) {
		left++
		p.Go(func() {
			w := &waiter{process: p}
			defer func() { left-- }()
			defer func() { p.Tasks().Start(func() { t.Error("a task started after the end") }) }()
			defer p.Checkpoint()
			defer p.Sleep(background, 1)
			defer w.Wait(background)
			w.Wait(background)
			t.Error("it went on")
		})
	}
	dead, paused := s.k.NewProcess("dead", Monotonic), s.k.NewProcess("paused", Monotonic)
	for _, p := range []*Process{s.p, dead, paused} {
		park(p)
		park(p)
	}
	s.p.Go(func() {})
	s.k.Run(1)
	dead.Crash()
	paused.Pause()
	s.k.Close()
	s.k.Close()
	if left != 0 {
		t.Errorf("%d coroutines are left", left)
	}
	s.k.Run(2)
	s.p.Go(func() { t.Error("a program started after the end") })
	s.k.Run(3)
}

// valueKey is the key of a value in the contexts of these tests.
type valueKey struct{}
