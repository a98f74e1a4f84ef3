package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/locktest"
)

// redisLock is a lock on one Redis server by plain commands, with a release that is told to those who wait.
type redisLock struct {
	env    *locktest.Env
	keep   time.Duration // of the time to live, for what a clock can be wrong by
	values int
}

const released = "released"

func (x *redisLock) redis() locktest.Redis { return x.env.Redis[0] }

func (x *redisLock) deadline() time.Time { return x.env.Runtime.Clock.Now().Add(x.env.NodeTimeout) }

func (x *redisLock) TryLock(ctx context.Context, resource string, ttl time.Duration) (locktest.Lease, error) {
	x.values++
	start := x.env.Runtime.Clock.Now()
	l := &redisLease{ownLease{resource: resource, value: fmt.Sprint(x.env.Name, x.values), until: start.Add(ttl - x.keep)}, x}
	reply, err := x.redis().Do(x.deadline(), "SET", resource, l.value, "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
	x.env.Step(ctx, locktest.Step{Name: "asked", Node: x.redis().Node(), Attempt: 1})
	if err != nil || reply == nil {
		return nil, errors.Join(errors.New("it is taken"), err)
	}
	x.env.Believe(ctx, l.until)
	return l, nil
}

func (x *redisLock) Lock(ctx context.Context, resource string, ttl time.Duration) (locktest.Lease, error) {
	waiting := x.redis().Subscribe(released)
	defer waiting.Close()
	for attempt := 1; ctx.Err() == nil; attempt++ {
		x.env.Attempt(ctx, attempt)
		if l, err := x.TryLock(ctx, resource, ttl); err == nil {
			return l, nil
		}
		err := waiting.Confirm(ctx, x.deadline())
		if err == nil {
			_, err = waiting.Next(ctx, x.env.Runtime.Clock.Now().Add(ttl))
		}
		if errors.Is(err, locktest.ErrReset) {
			x.env.Sleep(ctx, 100*time.Millisecond)
		}
	}
	return nil, ctx.Err()
}

type redisLease struct {
	ownLease
	lock *redisLock
}

func (l *redisLease) Unlock(context.Context) error {
	_, err := l.lock.redis().Script(l.lock.deadline(),
		"if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) redis.call('PUBLISH', ARGV[2], '') end return 0",
		[]string{l.resource}, []string{l.value, released})
	return err
}

// A lock that is made of plain commands is tested like any other: one server that keeps its memory is enough for a lock
// whose clients are as wrong about time as it allows for, and not where they are more so.
func TestALockOfPlainCommands(t *testing.T) {
	fixed(t, "1")
	for keep, want := range map[time.Duration]string{100 * time.Millisecond: "", 0: "two holders (lease-overlap) within the assumptions"} {
		r := check(locktest.Setup{
			Settings: "lock: {ttl: 2s, guard-time: 100ms}\nnodes: {names: [A], persistence: always}",
			Assume:   locktest.Assumptions{ClockRate: "2%"},
			Lock: func(env *locktest.Env) (locktest.Locker, error) {
				return &redisLock{env: env, keep: keep}, nil
			},
		})
		if r.failed != (want != "") || !strings.Contains(r.log.String(), want) {
			t.Errorf("with %v to spare it fails: %t\n%s", keep, r.failed, &r.log)
		}
	}
}
