package protocols

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
)

// nodePermits is a semaphore on independent nodes, each of which gives out so many permits by itself, as RedlockSemaphore of
// redis-semaphore has it: a client has a permit if a quorum of nodes gave it one. With more than one permit that is not what a
// quorum is for: any two quorums have a node in common, and the two clients can both have one of its permits. Its Lock is that
// of a semaphore of one permit.
type nodePermits struct{ *redlockPlain }

var nodePermitsProtocol = Protocol{Name: "node-permits", New: newNodePermits,
	own:          NodePermitsSettings{DriftSettings: defaultDrift(), RetrySettings: defaultRetry()},
	Capabilities: Capabilities{Permits: true, Keyless: true, AllAtOnce: true}, Steps: []string{observe.NodeAnswered.String()}}

// NodePermitsSettings are those of protocol node-permits.
type NodePermitsSettings struct {
	QuorumSettings `yaml:",inline"`
	DriftSettings  `yaml:",inline"`
	RetrySettings  `yaml:",inline"`
}

// Check implements Own.
func (own NodePermitsSettings) Check(s Settings, nodes int) error {
	if own.Quorum > nodes {
		return fmt.Errorf("quorum %d of %d nodes", own.Quorum, nodes)
	}
	return cmp.Or(s.checkTTL(), own.DriftSettings.check(s.TTL), own.RetrySettings.check())
}

func newNodePermits(env Env) (Locker, error) {
	step := env.Step
	env.Step = func(ctx context.Context, s Step) {
		if s.Name == observe.NodeAnswered.String() {
			step(ctx, s)
		}
	}
	own := Of[NodePermitsSettings](env.Settings)
	x := newPlain(env, env.Redis(), RedlockPlainSettings{QuorumSettings: own.QuorumSettings, DriftSettings: own.DriftSettings})
	x.grants = func(l *plainLease) Lease { return nodePermit{l} }
	return &nodePermits{x}, nil
}

// Permit implements Semaphores. A grant is of the semaphore: which permit it is differs from node to node.
func (x *nodePermits) Permit(ctx context.Context, c *PermitCall) error {
	var keys []string
	for i := range c.Permits {
		keys = append(keys, PermitOf(c.Semaphore, i+1))
	}
	return c.Try(ctx, c.Semaphore, c.TTL, func(ctx context.Context) (Lease, error) { return x.call(ctx, keys, c.TTL, c.Waits) })
}

// nodePermit is a permit that a quorum of nodes gave.
type nodePermit struct{ *plainLease }

// Holder implements Standing.
func (l nodePermit) Holder() string { return l.value }

// Extend is refused: the counterexample needs none.
func (l nodePermit) Extend(context.Context, time.Duration) error { return redlock.ErrLost }
