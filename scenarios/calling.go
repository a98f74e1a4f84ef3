package scenarios

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// Calling is how a step calls the lock, where that is not as usual. Each kind of step has some of the keys.
type Calling struct {
	// TTL is the TTL that the lock is asked for with; steps lock, try-lock, with-lock and with-all. Default: that of the
	// settings. Example: 3s
	TTL time.Duration `yaml:"ttl" range:"0s.." faster:"milliseconds"`
	// Within sets a deadline for the context of the call, so long after the call begins; with 0s it is over before. Steps
	// try-lock, extend, renew, with-lock, with-all, unlock, prepare and close. Default: no deadline. Example: 3ms
	Within *time.Duration `yaml:"within" range:"0s.."`
	// Cancel cancels the context of the call so long after the call begins; with 0s before it. Steps lock and those of
	// within. Default: it is not cancelled. Example: 30ms
	Cancel *time.Duration `yaml:"cancel" range:"0s.."`
	// LeaseContext makes the call with the context of the lease; steps extend and unlock. Default: false. Example: true
	LeaseContext bool `yaml:"lease-context"`
	// Released makes the step about the lock that was released last, not about one that is held: steps extend, renew and
	// unlock call it, and effects reach the resource without the lock, as a transaction does that is committed after the
	// unlock. They carry the token that the lock had. Default: false. Example: true
	Released bool `yaml:"released"`
	// Twice makes the call a second time, from another goroutine of the client, so long after the first begins; steps extend
	// and unlock. The client goes on when both have returned. Default: 0s, once. Example: 1ms
	Twice time.Duration `yaml:"twice" range:"0s.."`
	// Anyway has the client go on with the next step although the lock was not granted: until it is to unlock it, it works
	// without the lock, and looks at no lease. Steps lock and try-lock. Default: false, the rest of the steps are left out.
	// Example: true
	Anyway bool `yaml:"anyway"`
	// Wait is how long with-lock and with-all wait at the most for what they take. Default: 0s, as long as it takes.
	// Example: 1s
	Wait time.Duration `yaml:"wait" range:"0s.."`
	// Period is the time between two renewals; steps renew, with-lock and with-all. Default: a third of the TTL.
	// Example: 500ms
	Period time.Duration `yaml:"period" range:"0s.."`
	// Jitter is how much sooner than after a period a renewal may come; steps as for period. Default: 0s. Example: 100ms
	Jitter time.Duration `yaml:"jitter" range:"0s.."`
	// Limit is the largest number of renewals; steps as for period. Default: as the setting renewals says. Example: 3
	Limit int `yaml:"limit" range:"0.."`
	// MaxTime is how long renewals can keep the lease alive; steps as for period. Default: 0s, without a limit.
	// Example: 5s
	MaxTime time.Duration `yaml:"max-time" range:"0s.."`
	// Meanwhile has a second call do work of this length under the lease at the same time, before the first goes on with its
	// own: one whose max-time is too short for renewals. Step renew. Default: 0s, there is none. Example: 2s
	Meanwhile time.Duration `yaml:"meanwhile" range:"0s.."`
	// Unlocks has the work release the lock itself when it is done, in the context that it was given; step with-lock. Default:
	// false. Example: true
	Unlocks bool `yaml:"unlocks"`
	// Panics has the work panic when it is done, and the client recover from it; steps renew and with-lock. Default: false.
	// Example: true
	Panics bool `yaml:"panics"`
}

// isUsual says that the step calls the lock as usual.
func (c *Calling) isUsual() bool { return *c == Calling{} }

// read reports keys that a kind of step does not have.
func (c *Calling) read(d *strictyaml.Decoder, n *yaml.Node, shape *stepShape) {
	var known []string
	for _, f := range strictyaml.Fields(reflect.TypeFor[Calling]()) {
		known = append(known, f.Key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; slices.Contains(known, key.Value) && !slices.Contains(strings.Fields(shape.calling), key.Value) {
			d.Errorf(key, key.Value, nil, "%s takes no such key", shape.kind)
		}
	}
}

// needs says what a lock must be able to do for the keys of the call that it cannot; empty if it can.
func (c *Calling) needs(can protocols.Capabilities) string {
	switch {
	case (c.Within != nil || c.Cancel != nil || c.LeaseContext) && !can.Cancels:
		return "does not look at the contexts of its calls"
	case c.Released && !can.Repeats:
		return "does not know a lock that was released"
	case c.Twice != 0 && !can.Concurrent:
		return "does not take two calls about one lock at once"
	case (c.Period != 0 || c.Jitter != 0 || c.Limit != 0 || c.MaxTime != 0 || c.Meanwhile != 0 || c.Unlocks || c.Panics) && !can.Renews:
		return "does not renew its locks by itself"
	}
	return ""
}

// in derives the context of the call, and ends it as the step says. The caller must call done after the call.
func (c *Calling) in(ctx context.Context, clock driver.Clock) (calls context.Context, done func()) {
	done = func() {}
	if c.Within != nil {
		var cancel context.CancelFunc
		ctx, cancel = clock.WithDeadline(ctx, clock.Now().Add(*c.Within))
		done = cancel
	}
	if c.Cancel == nil {
		return ctx, done
	}
	ctx, cancel := clock.WithCancel(ctx)
	if *c.Cancel == 0 {
		cancel(nil)
		return ctx, done
	}
	timer, before := clock.AfterFunc(*c.Cancel, func() { cancel(nil) }), done
	return ctx, func() {
		timer.Stop()
		cancel(nil)
		before()
	}
}
