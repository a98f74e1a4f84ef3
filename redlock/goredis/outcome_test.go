//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
)

// is recognizes an error.
func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// What the user's Limiter denies was not sent.
func TestLimiter(t *testing.T) {
	client := newClient(t, adaptertest.Stub(t, false, "+OK"), func(o *redis.Options) { o.Limiter = deny{} })
	if got := adaptertest.Acquire(t, newNode(t, client)); got.Outcome != driver.Refused || !errors.Is(got.Err, errDenied) {
		t.Errorf("got %v", got)
	}
}

var errDenied = errors.New("denied")

type deny struct{}

func (deny) Allow() error       { return errDenied }
func (deny) ReportResult(error) {}

// A command for which the pool has no connection was not sent: it is refused, also when the pool itself calls that a
// timeout. When the deadline comes first it has timed out like any other.
func TestPoolExhausted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		poolTimeout time.Duration
		want        driver.Outcome
		err         error
	}{
		{time.Millisecond, driver.Refused, redis.ErrPoolTimeout},
		{time.Minute, driver.TimedOut, context.DeadlineExceeded},
	} {
		client := newClient(t, adaptertest.Stub(t, true), func(o *redis.Options) { o.PoolSize, o.PoolTimeout = 1, test.poolTimeout })
		node := newNode(t, client)
		slow := command(t, "acquire a", ttl)
		slow.Deadline = time.Now().Add(time.Second)
		done := make(chan driver.Reply, 1)
		slow.Done = func(_ *driver.Command, r driver.Reply) { done <- r }
		node.Do([]*driver.Command{slow})
		for client.PoolStats().TotalConns == 0 {
			time.Sleep(time.Millisecond)
		}
		if got := adaptertest.Acquire(t, node); got.Outcome != test.want || !errors.Is(got.Err, test.err) {
			t.Errorf("PoolTimeout %v: got %v, want %v, %v", test.poolTimeout, got, test.want, test.err)
		}
		if got := <-done; got.Outcome != driver.TimedOut {
			t.Errorf("the command that had the connection: %v", got)
		}
	}
}
