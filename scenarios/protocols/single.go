package protocols

import (
	"context"
	"fmt"
	"time"

	"redlocksim/redlock/observe"
)

// The locks on one Redis instance, the first node. They are redlock-plain on that node alone, which has no doubts about a grant
// and nothing to tidy up after a refusal.

// SetWithoutTTL is the step of setnx-expire at which the key is there and does not expire yet.
const SetWithoutTTL = "set-without-ttl"

// FoundFree is the step of get-set at which the client has seen that nobody has the lock, and has not taken it yet.
const FoundFree = "found-free"

var (
	// singleProtocol is the lock that is right for one instance: SET key value NX PX ttl.
	singleProtocol = onOneInstance("single", nil)
	// setnxExpireProtocol is the lock of the time before SET had options: SETNX, and EXPIRE as a second command. It is not
	// atomic: a client that stops in between leaves a key that never goes away. So does one whose EXPIRE fails.
	setnxExpireProtocol = setnxExpire()
	// getSetProtocol is the lock of a client that looks whether the key is there, and sets it if it is not. Two clients that
	// look at the same time both find it free.
	getSetProtocol = onOneInstance("get-set", (*redlockPlain).getSet, FoundFree)
)

// taking is another way to take a lock on one instance; see redlockPlain.take.
type taking func(x *redlockPlain, ctx context.Context, l *plainLease) (start time.Time, reason error)

// onOneInstance is a protocol with some steps of its own.
func onOneInstance(name Name, take taking, steps ...string) Protocol {
	own := append([]string{Compared}, steps...)
	return Protocol{Name: name, own: SingleSettings{RetrySettings: defaultRetry()}, Sentences: own, Capabilities: Capabilities{KeysOnly: true},
		Steps: append([]string{observe.AttemptStarted.String(), observe.NodeAnswered.String(), observe.ValidityComputed.String()}, own...),
		New: func(env Env) (Locker, error) {
			x := newPlain(env, env.Redis()[:1], RedlockPlainSettings{QuorumSettings: QuorumSettings{1},
				ReleaseSettings: Of[ReleaseSettings](env.Settings), Asking: Sequential, Cleanup: NoCleanup, Validity: Unchecked})
			x.isAlone = true
			if take != nil {
				x.take = func(ctx context.Context, l *plainLease) (time.Time, []int, error, error) {
					start, reason := take(x, ctx, l)
					return start, nil, reason, nil
				}
			}
			return x, nil
		}}
}

func setnxExpire() Protocol {
	p := onOneInstance("setnx-expire", (*redlockPlain).setnxExpire, SetWithoutTTL)
	p.own, p.Capabilities.Unit = setnxExpireSettings{p.own.(SingleSettings)}, time.Second
	return p
}

// SingleSettings are those of a lock on one instance.
type SingleSettings struct {
	RetrySettings   `yaml:",inline"`
	ReleaseSettings `yaml:",inline"`
}

// setnxExpireSettings are those of a lock whose time to live is given to EXPIRE.
type setnxExpireSettings struct {
	SingleSettings `yaml:",inline"`
}

// Check implements Own.
func (own setnxExpireSettings) Check(s Settings, nodes int) error {
	if s.TTL <= 0 || s.TTL%time.Second != 0 {
		return fmt.Errorf("ttl %v is not a positive whole number of seconds, which EXPIRE takes", s.TTL)
	}
	return own.SingleSettings.Check(s, nodes)
}

func (x *redlockPlain) setnxExpire(ctx context.Context, l *plainLease) (time.Time, error) {
	start := x.clock.Now()
	reply := x.command(0, "SETNX", l.keys[0], l.value)
	if err := x.answered(ctx, 0, reply, reply.Value == any(int64(1))); err != nil {
		return start, err
	}
	x.env.Step(ctx, Step{Name: SetWithoutTTL, Detail: "has set the key, which has no time to live yet"})
	return start, deleted(x.command(0, "EXPIRE", l.keys[0], fmt.Sprint(int64(l.ttl/time.Second))))
}

func (x *redlockPlain) getSet(ctx context.Context, l *plainLease) (start time.Time, err error) {
	reply := x.command(0, "GET", l.keys[0])
	if reply.Err != nil || reply.Value != nil {
		return start, x.answered(ctx, 0, reply, false)
	}
	x.env.Step(ctx, Step{Name: FoundFree, Detail: "finds no key"})
	start = x.clock.Now()
	reply = x.command(0, "SET", l.keys[0], l.value, "PX", milliseconds(l.ttl))
	return start, x.answered(ctx, 0, reply, true)
}
