package protocols

import (
	"errors"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	lib "redlocksim/redlock/single"
)

var oneRedisProtocol = Protocol{Name: "one-redis", New: newOneRedis, own: OneRedisSettings{RedlockSettings: defaultRedlock()},
	Steps: redlockSteps(), Capabilities: redlockProtocol.Capabilities}

// OneRedisSettings are those of protocol one-redis: package redlock/single of the shipped library. Nothing is done about a
// failover (Failover.Waived) unless replicas, sequence or guard is set.
type OneRedisSettings struct {
	RedlockSettings `yaml:",inline"`
	// Sequence takes the fencing tokens from the resource's storage (Failover.Tokens), which no failover sets back. Default:
	// false. Example: true
	Sequence bool `yaml:"sequence"`
}

// newOneRedis makes a client of package redlock/single on the first node, or whoever was promoted in its place.
func newOneRedis(env Env) (Locker, error) {
	return newShipped(env, env.Nodes()[:1], func(nodes []driver.Node, options ...redlock.Option) (*redlock.Client, error) {
		own := Of[OneRedisSettings](env.Settings)
		return lib.New(logical{nodes[0]}, own.failover(env.Sequence()), options...)
	})
}

// logical is a node as the library takes it.
type logical struct{ node driver.Node }

func (l logical) Node() driver.Node { return l.node }

// failover is what is done about a failover, but for the guard, which is among the options.
func (own OneRedisSettings) failover(sequence driver.TokenSource) (f lib.Failover) {
	if own.Sequence {
		f.Tokens = sequence
	}
	f.Replicas = own.Replicas
	f.Waived = !own.Sequence && own.Replicas == 0
	return f
}

// choose implements what Settings.Capabilities asks for.
func (own OneRedisSettings) choose(c *Capabilities) { c.Tokens = own.Fencing || own.Sequence }

// quorum is of the only node.
func (own OneRedisSettings) quorum(int) int { return 1 }

// Check implements Own. The lock is on the first node only.
func (own OneRedisSettings) Check(s Settings, _ int) error {
	if own.Sequence && own.Fencing {
		return errors.New("sequence and fencing: a grant has one token")
	}
	return own.RedlockSettings.Check(s, 1)
}
