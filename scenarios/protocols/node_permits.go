package protocols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
)

// nodePermits is a semaphore on independent nodes, each of which gives out so many permits by itself, as RedlockSemaphore of
// redis-semaphore has it: a client has a permit if a quorum of nodes gave it one. With more than one permit that is not what a
// quorum is for: any two quorums have a node in common, and the two clients can both have one of its permits.
type nodePermits struct {
	session
	quorum int
}

var nodePermitsProtocol = Protocol{Name: "node-permits", New: newNodePermits,
	own:          NodePermitsSettings{DriftSettings: defaultDrift(), RetrySettings: defaultRetry()},
	Capabilities: Capabilities{Permits: true, Keyless: true, AllAtOnce: true}, Steps: redlockPlainSteps[:2]}

// NodePermitsSettings are those of protocol node-permits.
type NodePermitsSettings struct {
	QuorumSettings `yaml:",inline"`
	DriftSettings  `yaml:",inline"`
	RetrySettings  `yaml:",inline"`
}

// Check implements Own.
func (own NodePermitsSettings) Check(s Settings, nodes int) error {
	if own.Quorum < 0 || own.Quorum > nodes {
		return fmt.Errorf("quorum %d of %d nodes", own.Quorum, nodes)
	}
	return cmp.Or(s.checkTTL(), own.DriftSettings.check(s.TTL), own.RetrySettings.check())
}

func (own NodePermitsSettings) faster(by time.Duration) Own {
	own.DriftSettings = own.DriftSettings.shortened(by)
	own.RetrySettings = own.RetrySettings.shortened(by)
	return own
}

func newNodePermits(env Env) (Locker, error) {
	x := &nodePermits{session: newSession(env)}
	x.quorum = Of[QuorumSettings](env.Settings).quorum(len(x.nodes))
	return x, nil
}

// takeOne sets the first key that is free, and deleteAll deletes those that hold a value.
var (
	takeOne = &rediscmd.Script{
		Lua: `for i, key in ipairs(KEYS) do
  if redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) then return i end
end
return 0`,
	}
	deleteAll = &rediscmd.Script{
		Lua: `local n = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then n = n + redis.call('DEL', key) end
end
return n`,
	}
)

// Permit implements Semaphores. A grant is of the semaphore: which permit it is differs from node to node.
func (x *nodePermits) Permit(ctx context.Context, c *PermitCall) error {
	var keys []string
	for i := range c.Permits {
		keys = append(keys, PermitOf(c.Semaphore, i+1))
	}
	return c.Try(ctx, c.Semaphore, c.TTL, func(ctx context.Context) (Lease, error) {
		return x.take(ctx, c.Semaphore, keys, c.TTL, c.Waits)
	})
}

// Lock is a semaphore of one permit.
func (x *nodePermits) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.take(ctx, resource, []string{resource}, ttl, true)
}

// TryLock is Lock with one attempt.
func (x *nodePermits) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.take(ctx, resource, []string{resource}, ttl, false)
}

func (x *nodePermits) take(ctx context.Context, name string, keys []string, ttl time.Duration, waits bool) (Lease, error) {
	attempt := func(ctx context.Context, _ string, ttl time.Duration) (Lease, error) {
		return x.attempt(ctx, keys, ttl)
	}
	if waits {
		return x.retry(ctx, name, ttl, attempt)
	}
	return attempt(ctx, name, ttl)
}

func (x *nodePermits) attempt(ctx context.Context, keys []string, ttl time.Duration) (Lease, error) {
	value, err := x.value()
	if err != nil {
		return nil, err
	}
	l := &nodePermit{nodePermits: x, keys: keys, value: value}
	start := x.clock.Now()
	votes, reason := 0, redlock.ErrNoQuorum
	x.atOnce(x.all(), l.votes(ctx, ttl), func(node int, reply rediscmd.Reply) bool {
		number, _ := reply.Value.(int64)
		switch err := x.answered(ctx, node, reply, number > 0 || reply.Value == any("OK")); {
		case err == nil:
			votes++
		case errors.Is(err, redlock.ErrTaken):
			reason = err
		}
		return true
	})
	l.until = start.Add(ttl - Of[DriftSettings](x.env.Settings).Drift.For(ttl))
	switch {
	case votes >= x.quorum && x.clock.Now().Before(l.until):
		x.env.Believe(ctx, l.until)
		return l, nil
	case votes >= x.quorum:
		reason = redlock.ErrTooLate
	}
	_ = l.Unlock(ctx)
	return nil, reason
}

// nodePermit is a permit that a quorum of nodes gave.
type nodePermit struct {
	*nodePermits
	keys  []string
	value string
	until time.Time
}

func (l *nodePermit) Until() time.Time         { return l.until }
func (l *nodePermit) Context() context.Context { return context.Background() }
func (l *nodePermit) Token() (int64, bool)     { return 0, false }
func (l *nodePermit) Holder() string           { return l.value }

// asks has a node run a script on the keys of the permits.
func (l *nodePermit) asks(ctx context.Context, script *rediscmd.Script, argv ...string) ask {
	return func(node int) rediscmd.Reply { return l.script(ctx, node, script, l.keys, argv...) }
}

// votes has a node give out a permit: a script is needed where it has several.
func (l *nodePermit) votes(ctx context.Context, ttl time.Duration) ask {
	milliseconds := fmt.Sprint(ttl.Milliseconds())
	if len(l.keys) > 1 {
		return l.asks(ctx, takeOne, l.value, milliseconds)
	}
	return func(node int) rediscmd.Reply {
		return l.command(ctx, node, "SET", l.keys[0], l.value, "NX", "PX", milliseconds)
	}
}

// Extend is refused: the counterexample needs none.
func (l *nodePermit) Extend(context.Context, time.Duration) error { return redlock.ErrLost }

func (l *nodePermit) Unlock(ctx context.Context) error {
	votes := 0
	var failed error
	l.atOnce(l.all(), l.asks(ctx, deleteAll, l.value), func(_ int, reply rediscmd.Reply) bool {
		if err := deleted(reply); err == nil {
			votes++
		} else if reply.Err != nil {
			failed = err
		}
		return true
	})
	return agreed(votes, l.quorum, failed)
}
