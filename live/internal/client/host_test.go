//go:build linux

package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/goredis"
)

func testHost() *host {
	c, _ := newClock("", 0) // there is no file to be read
	return newHost(&Role{Name: "client-1", Speed: 5}, c, nil)
}

// One thing runs at a time, and others only where it waits: who is started first, then who started it, then whoever was
// woken.
func TestTurns(t *testing.T) {
	h := testHost()
	tasks := h.Tasks()
	var order []string
	h.Enter()
	defer h.Leave()
	woken, done := tasks.NewWaiter(), tasks.NewWaiter()
	tasks.Start(func() {
		order = append(order, "task begins")
		woken.Wait(t.Context())
		order = append(order, "task goes on")
		done.Wake()
	})
	order = append(order, "program goes on")
	woken.Wake()
	time.Sleep(20 * time.Millisecond) // which the task must not use, as this is no place to wait in
	order = append(order, "program waits")
	done.Wait(t.Context())
	order = append(order, "program ends")
	if want := []string{"task begins", "program goes on", "program waits", "task goes on", "program ends"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// A timer that is stopped does not fire, also if it is just waiting for its turn, and one that is set anew fires once.
func TestTimersWaitForTheirTurn(t *testing.T) {
	h := testHost()
	h.Enter()
	defer h.Leave()
	fired := map[string]int{}
	timer := func(name string) interface {
		Stop() bool
		Reset(time.Duration)
	} {
		return h.LockClock().AfterFunc(0, func() { fired[name]++ })
	}
	stopped, again, _ := timer("stopped"), timer("again"), timer("left alone")
	time.Sleep(20 * time.Millisecond) // all are due, and wait
	if !stopped.Stop() {
		t.Error("a timer that waits for its turn has not fired, and can be stopped")
	}
	again.Reset(time.Millisecond)
	h.Sleep(context.Background(), 50*time.Millisecond)
	if want := map[string]int{"again": 1, "left alone": 1}; fmt.Sprint(fired) != fmt.Sprint(want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
	if stopped.Stop() || again.Stop() {
		t.Error("a timer that was stopped or has fired says that it was stopped now")
	}
}

// A sleep gives the turn up, and ends with its context.
func TestSleepGivesTheTurnUp(t *testing.T) {
	h := testHost()
	h.Enter()
	defer h.Leave()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		h.Enter() // not before the sleep
		defer h.Leave()
		cancel()
	}()
	begin := time.Now()
	if h.Sleep(ctx, time.Minute); time.Since(begin) > 10*time.Second {
		t.Error("it slept on")
	}
}

// A subscription hears what is published while its connection stands, outlives one break of it, and is broken by two in a
// row.
func TestSubscription(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := miniredis.RunT(t)
	rc := goredis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rc.Close()
	h := testHost()
	c := newConnection(&h.turn, h.clock, "A", rc)
	h.Enter()
	defer h.Leave()
	soon := func() time.Time { return h.LockClock().Now().Add(5 * time.Second) }
	s := c.Subscribe("channel")
	if err := s.Confirm(t.Context(), soon()); err != nil {
		t.Fatal(err)
	}
	publish := func(message string) {
		t.Helper()
		if r := c.Do(soon(), rediscmd.Request{Args: []string{"PUBLISH", "channel", message}}); r.Value != any(int64(1)) {
			t.Errorf("published: %v", r)
		}
	}
	publish("1")
	publish("2")
	for _, want := range []string{"1", "2"} {
		if got, err := s.Next(t.Context(), soon()); got != want || err != nil {
			t.Errorf("heard %q, %v, want %q", got, err, want)
		}
	}
	if _, err := s.Next(t.Context(), h.LockClock().Now().Add(20*time.Millisecond)); err != rediscmd.ErrTimeout {
		t.Errorf("nothing to hear: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ended, soon()); !errors.Is(err, context.Canceled) {
		t.Errorf("without a context: %v", err)
	}

	server.Server().Close() // the connections, with the port
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); server.PubSubNumSub("channel")["channel"] == 0 && time.Now().Before(deadline); {
		h.Sleep(t.Context(), time.Millisecond)
	}
	publish("3")
	if got, err := s.Next(t.Context(), soon()); got != "3" || err != nil {
		t.Errorf("on the new connection: heard %q, %v", got, err)
	}

	server.Close()
	if _, err := s.Next(t.Context(), soon()); err != rediscmd.ErrReset {
		t.Errorf("without a server: %v", err)
	}
	s.Close()
}
