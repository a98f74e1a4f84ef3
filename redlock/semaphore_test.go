package redlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/internal/looks"
	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// A context for a call of somebody else's ends when the client is closed, and Close waits for the call.
func TestDuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := redlocktest.New(t, 3).Client()
		lent := looks.Lent(client)
		type key struct{}
		during, end, err := lent.During(context.WithValue(t.Context(), key{}, "value"), "r", time.Second)
		if err != nil || during.Value(key{}) != "value" {
			t.Fatal(err, during.Value(key{}))
		}
		over, cancel := context.WithCancel(t.Context())
		other, endOther, err := lent.During(over, "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if <-other.Done(); context.Cause(other) != context.Canceled {
			t.Errorf("the caller's context has ended, and the cause is %v", context.Cause(other))
		}
		endOther()

		closed := make(chan error)
		go func() { closed <- client.Close(t.Context()) }()
		if <-during.Done(); context.Cause(during) != redlock.ErrClosed {
			t.Errorf("the client is closed, and the cause is %v", context.Cause(during))
		}
		time.Sleep(time.Minute)
		select {
		case err := <-closed:
			t.Errorf("Close did not wait: %v", err)
		default:
		}
		end()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if _, _, err := lent.During(t.Context(), "r", time.Second); err != redlock.ErrClosed {
			t.Errorf("of a closed client: %v", err)
		}
	})
}

func TestRenewalCheck(t *testing.T) {
	const ttl = 10 * time.Second
	for r, right := range map[redlock.Renewal]bool{
		{}:                                      true,
		{Period: ttl / 2, Jitter: ttl / 2}:      true,
		{Period: ttl/2 + 1}:                     false,
		{Jitter: ttl/3 + 1}:                     false,
		{Wait: -1}:                              false,
		{Limit: redlock.Unlimited}:              true,
		{Limit: redlock.Unlimited - 1}:          false,
		{MaxTime: redlock.Unlimited - 1}:        false,
		{MaxTime: time.Second, Wait: ttl}:       true,
		{Limit: 1, MaxTime: 1, Period: ttl / 4}: true,
	} {
		if err := r.Check(ttl); (err == nil) != right || err != nil && !errors.Is(err, redlock.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
