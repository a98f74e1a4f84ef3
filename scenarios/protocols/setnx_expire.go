package protocols

import (
	"context"
	"fmt"
	"time"

	"redlocksim/redlock"
)

// SetWithoutTTL is the step of setnx-expire at which the key is there and does not expire yet.
const SetWithoutTTL = "set-without-ttl"

var setnxExpireProtocol = Protocol{Name: "setnx-expire", New: newSetnxExpire, own: setnxExpireSettings{defaultSingle()}, Steps: append(singleSteps(), SetWithoutTTL),
	Sentences: []string{Compared, SetWithoutTTL}, Capabilities: Capabilities{KeysOnly: true, Unit: time.Second}}

// setnxExpireSettings are those of a lock whose time to live is given to EXPIRE.
type setnxExpireSettings struct {
	SingleSettings `yaml:",inline"`
}

// newSetnxExpire makes the lock of the time before SET had options: SETNX, and EXPIRE as a second command. It is not
// atomic: a client that stops in between leaves a key that never goes away. So does one whose EXPIRE fails.
func newSetnxExpire(env Env) (Locker, error) {
	x := newInstance(env)
	x.take = x.setnxExpire
	return x, nil
}

// Check implements Own.
func (own setnxExpireSettings) Check(s Settings, nodes int) error {
	if s.TTL <= 0 || s.TTL%time.Second != 0 {
		return fmt.Errorf("ttl %v is not a positive whole number of seconds, which EXPIRE takes", s.TTL)
	}
	return own.SingleSettings.Check(s, nodes)
}

func (own setnxExpireSettings) faster(by time.Duration) Own {
	own.RetrySettings = own.RetrySettings.shortened(by)
	return own
}

func (x *single) setnxExpire(ctx context.Context, resource, value string, ttl time.Duration) (time.Time, error) {
	start := x.clock.Now()
	reply := x.command(ctx, 0, "SETNX", resource, value)
	if err := x.answered(ctx, 0, reply, reply.Value == any(int64(1))); err != nil {
		return time.Time{}, err
	}
	x.env.Step(ctx, Step{Name: SetWithoutTTL, Detail: "has set the key, which has no time to live yet"})
	reply = x.command(ctx, 0, "EXPIRE", resource, fmt.Sprint(int64(ttl/time.Second)))
	switch {
	case reply.Err != nil:
		return time.Time{}, reply.Err
	case reply.Value != any(int64(1)):
		return time.Time{}, redlock.ErrLost
	}
	return start.Add(ttl), nil
}
