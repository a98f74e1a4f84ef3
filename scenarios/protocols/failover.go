package protocols

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"redlocksim/redlock"
)

var failoverProtocol = Protocol{Name: "failover", New: newFailover, own: FailoverSettings{SingleSettings: defaultSingle()}, Steps: append(singleSteps(), Replicated),
	Sentences: []string{Compared, Replicated}}

// FailoverSettings are those of protocol failover.
type FailoverSettings struct {
	SingleSettings `yaml:",inline"`
	// Wait is what a client demands of replicas before it considers the lock granted. Default: not set. Example: {replicas:
	// 1, timeout: 100ms}
	Wait Wait `yaml:"wait"`
}

// Wait is what a client of protocol failover demands of the replicas before it considers the lock granted.
type Wait struct {
	// Replicas is how many must have acknowledged; with 0 the client does not ask. Example: 1
	Replicas int `yaml:"replicas,required"`
	// Timeout is how long the master may wait for them. Example: 100ms
	Timeout time.Duration `yaml:"timeout,required"`
}

// Replicated is the step at which a client knows how many replicas have its key.
const Replicated = "replicated"

// newFailover makes the lock on a single instance that has replicas: the first node, or whoever was promoted in its
// place. It does not know that anything was promoted.
func newFailover(env Env) (Locker, error) {
	x := newInstance(env)
	x.take = x.setAndWait
	return x, nil
}

// Check implements Own.
func (own FailoverSettings) Check(s Settings, nodes int) error {
	return cmp.Or(own.Wait.check(), own.SingleSettings.Check(s, nodes))
}

func (w Wait) check() error {
	switch {
	case w.Replicas < 0:
		return fmt.Errorf("wait: replicas %d is negative", w.Replicas)
	case w.Replicas > 0 || w.Timeout < 0:
		return wholePositive("wait: timeout", w.Timeout)
	}
	return nil
}

func (own FailoverSettings) faster(by time.Duration) Own {
	own.RetrySettings = own.RetrySettings.shortened(by)
	own.Wait.Timeout = wholeMilliseconds(own.Wait.Timeout / by)
	return own
}

// setAndWait counts validity from before the SET, so that waiting costs some of it.
func (x *single) setAndWait(ctx context.Context, resource, value string, ttl time.Duration) (time.Time, error) {
	until, err := x.set(ctx, resource, value, ttl)
	w := Of[FailoverSettings](x.env.Settings).Wait
	if err != nil || w.Replicas == 0 {
		return until, err
	}
	reply := x.commandWithin(ctx, w.Timeout+x.env.Settings.NodeTimeout, 0, "WAIT", fmt.Sprint(w.Replicas), fmt.Sprint(w.Timeout.Milliseconds()))
	n, _ := reply.Value.(int64)
	detail := fmt.Sprintf("waits for replicas: %d of %d have acknowledged its key", n, w.Replicas)
	if reply.Err != nil {
		detail = "waits for replicas: " + reply.Err.Error()
	}
	x.env.Step(ctx, Step{Name: Replicated, Detail: detail})
	switch {
	case reply.Err == nil && n >= int64(w.Replicas):
		return until, nil
	case reply.Err == nil:
		reply.Err = redlock.ErrNoQuorum
	}
	// Whether or not the key is there still, it is not to be in anybody's way.
	x.script(ctx, 0, compareAndDelete, []string{resource}, value)
	return until, reply.Err
}
