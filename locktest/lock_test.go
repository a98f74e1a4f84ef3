package locktest_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/locktest"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// ownLock is a lock library of one's own, as short as can be: it asks all nodes at once through driver.Node, waits for all
// of them, and takes what it got for a lock if it is enough.
type ownLock struct {
	env    *locktest.Env
	enough int
	salt   string // of the values, which nobody else must have, not even this client after a restart
	values int
}

func newOwn(env *locktest.Env, enough int) (*ownLock, error) {
	var salt [8]byte
	_, err := io.ReadFull(env.Runtime.Rand, salt[:])
	return &ownLock{env: env, enough: enough, salt: hex.EncodeToString(salt[:])}, err
}

func (x *ownLock) Lock(ctx context.Context, resource string, ttl time.Duration) (locktest.Lease, error) {
	for {
		lease, err := x.TryLock(ctx, resource, ttl)
		if err == nil {
			return lease, nil
		}
		x.env.Sleep(ctx, 100*time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (x *ownLock) TryLock(ctx context.Context, resource string, ttl time.Duration) (locktest.Lease, error) {
	x.values++
	l := &ownLease{lock: x, resource: resource, value: fmt.Sprint(x.salt, "-", x.values)}
	start := x.env.Runtime.Clock.Now()
	l.until = start.Add(ttl - ttl/100 - 2*time.Millisecond)
	if l.ask(driver.OpAcquire, ttl) < x.enough || !x.env.Runtime.Clock.Now().Before(l.until) {
		l.ask(driver.OpRelease, 0)
		return nil, redlock.ErrTaken
	}
	x.env.Believe(ctx, l.until)
	return l, nil
}

type ownLease struct {
	lock     *ownLock
	resource string
	value    string
	rounds   int
	until    time.Time
}

// ask sends a command to all nodes and counts those that accept it in time.
func (l *ownLease) ask(op driver.Op, ttl time.Duration) (accepted int) {
	env := l.lock.env
	nodes := env.Nodes
	waiter, patience := env.Runtime.Tasks.NewWaiter(), env.NodeTimeout
	answers, late := 0, false
	timer := env.Runtime.Clock.AfterFunc(patience, func() { late = true; waiter.Wake() })
	defer timer.Stop()
	for _, node := range nodes {
		node.Do([]*driver.Command{{Op: op, Keys: []string{l.resource}, Value: l.value, TTL: ttl, Round: l.rounds,
			Deadline: env.Runtime.Clock.Now().Add(patience), Done: func(_ *driver.Command, r driver.Reply) {
				answers++
				if r.Outcome == driver.Accepted && !late {
					accepted++
				}
				waiter.Wake()
			}}})
	}
	l.rounds++
	for answers < len(nodes) && !late {
		waiter.Wait(context.Background())
	}
	return accepted
}

func (l *ownLease) Until() time.Time                            { return l.until }
func (l *ownLease) Context() context.Context                    { return context.Background() }
func (l *ownLease) Token() (int64, bool)                        { return 0, false }
func (l *ownLease) Extend(context.Context, time.Duration) error { return errors.New("not extended") }
func (l *ownLease) Unlock(context.Context) error {
	if l.ask(driver.OpRelease, 0) < l.lock.enough {
		return errors.New("some nodes may hold it still")
	}
	return nil
}

func own(enough int) locktest.Setup {
	return locktest.Setup{
		// A message can be late by a second and 5 ms: so much before the end of its lease a client sends none.
		Settings: "lock: {ttl: 2s, guard-time: 1005ms}",
		Assume:   locktest.Assumptions{ClockRate: "0.5%", RestartDelay: 2 * time.Second, Delay: time.Second},
		Lock:     func(env *locktest.Env) (locktest.Locker, error) { return newOwn(env, enough) },
	}
}

func TestALockOfOnesOwn(t *testing.T) {
	experiments := locktest.Experiments(t, own(3))
	rapid.Check(t, func(t *rapid.T) { locktest.MutualExclusion(t, experiments.Draw(t, "experiment")) })
}

// A majority of five is three: two clients that are content with two can hold the lock together, without a fault.
func TestALockOfOnesOwnThatIsBroken(t *testing.T) {
	fixed(t, "1")
	r := check(own(2))
	for _, want := range []string{"two holders (lease-overlap) within the assumptions", "the file to keep:", "locktest.Parse(t, file, 0, lock)"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &r.log)
		}
	}
}

// restarted is a file in which client 1 gets the lock, crashes and is started again, after other faults, and asks for it anew.
func restarted(faults string) string {
	return `title: t
source: s
explanation: e
claim: holds
clients: [client-1, client-2]
lock: {ttl: 2s}
timeline:
  - {at: 0s, client: client-1, do: [try-lock]}
` + faults + `
  - {at: 500ms, fault: {crash: {client: client-1, restart-after: 100ms}}}
  - {at: 1s, client: client-1, do: [try-lock]}
  - {at: 1s, client: client-2, do: [try-lock]}
expect: {findings: safe, unavailable: {at-most: 3s}}
`
}

// A client that is started again counts from 1 again, so values that are made of its name come again. One that needs random
// bytes and is started again without them ends.
func TestAClientThatIsStartedAgain(t *testing.T) {
	const starved = "  - {at: 500ms, fault: {entropy: {client: client-1, for: 1s}}}"
	for _, c := range []struct{ salt, faults, want string }{
		{"name", "", "breaks a promise (conduct) within the assumptions"}, {"random", "", ""}, {"random", starved, ""},
	} {
		lock := func(env *locktest.Env) (locktest.Locker, error) {
			if c.salt == "name" {
				return &ownLock{env: env, enough: 3, salt: env.Name}, nil
			}
			return newOwn(env, 3)
		}
		r := record(func(t rapid.TB) {
			e := locktest.Parse(t, restarted(c.faults), 0, lock)
			locktest.MutualExclusion(t, e)
			locktest.Promises(t, e)
		})
		if r.failed != (c.want != "") || r.skipped || !strings.Contains(r.log.String(), c.want) {
			t.Errorf("%+v: %s", c, &r.log)
		}
	}
}

// A lock that keeps something between runs, as one would that reads the system's clock.
func TestALockThatDoesNotRepeatItself(t *testing.T) {
	made := 0
	s := own(3)
	s.Lock = func(env *locktest.Env) (locktest.Locker, error) {
		made++
		return newOwn(env, 3+made/4%2)
	}
	fixed(t, "1")
	if r := check(s); !strings.Contains(r.log.String(), "did not repeat itself: Setup.Lock uses something other than its Env: ") {
		t.Errorf("it is not noticed: %s", &r.log)
	}
}
