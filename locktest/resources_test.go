package locktest

import (
	"context"
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios"
)

// alone is the library's lock as a lock of one's own, that cannot lock several resources as one.
type alone struct {
	env    *Env
	client *redlock.Client
}

func (a alone) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return a.granted(ctx)(a.client.Lock(ctx, resource, ttl))
}

func (a alone) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return a.granted(ctx)(a.client.TryLock(ctx, resource, ttl))
}

func (a alone) granted(ctx context.Context) func(*redlock.Lease, error) (Lease, error) {
	return func(l *redlock.Lease, err error) (Lease, error) {
		if err != nil {
			return nil, err
		}
		a.env.Believe(ctx, l.Until())
		return extended{l, a.env}, nil
	}
}

// extended is a lease of the library's whose client believes in what it extends.
type extended struct {
	*redlock.Lease
	env *Env
}

func (x extended) Extend(ctx context.Context, ttl time.Duration) error {
	err := x.Lease.Extend(ctx, ttl)
	if err == nil {
		x.env.Believe(ctx, x.Until())
	}
	return err
}

// greedy takes a lock on several resources for one on the first.
type greedy struct{ alone }

func (g greedy) LockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error) {
	return g.Lock(ctx, resources[0], ttl)
}

func (g greedy) TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error) {
	return g.TryLock(ctx, resources[0], ttl)
}

func library(wrap func(alone) Locker) func(*Env) (Locker, error) {
	return func(env *Env) (Locker, error) {
		client, err := redlock.New(env.Nodes, redlock.WithRuntime(env.Runtime), redlock.WithNodeTimeout(env.NodeTimeout))
		return wrap(alone{env, client}), err
	}
}

func locksAlone(a alone) Locker    { return a }
func locksTheFirst(a alone) Locker { return greedy{a} }

// locked is what the clients of an experiment lock: each by itself, and how many locks are on several.
func locked(e *Experiment) (single map[string]bool, several int) {
	single = map[string]bool{}
	for _, item := range e.scenario.Timeline {
		for _, s := range item.Do {
			on := s.Resource
			if s.Kind != scenarios.LockStep && s.Kind != scenarios.TryLockStep {
				continue
			}
			if on == nil {
				on = item.Resource
			}
			if len(on) > 1 {
				several++
			} else if len(on) == 1 {
				single[on[0]] = true
			}
		}
	}
	return single, several
}

// Every resource is locked by itself, and several as one by a lock that can, in random experiments and in attacks.
func TestExperimentsOnSeveralResources(t *testing.T) {
	names := []string{"invoices", "orders", "users"}
	for name, c := range map[string]struct {
		lock  func(*Env) (Locker, error)
		joint bool
	}{
		"the library":            {nil, true},
		"our own, one at a time": {library(locksAlone), false},
		"our own, all at once":   {library(locksTheFirst), true},
	} {
		experiments := Experiments(t, Setup{Settings: "lock: {ttl: 2s}", Resources: names, Assume: Assumptions{RestartDelay: 2 * time.Second}, Lock: c.lock})
		single, several := map[string]bool{}, map[bool]int{}
		for seed := range 150 {
			e := experiments.Example(seed)
			of, n := locked(e)
			for resource := range of {
				single[resource] = true
			}
			several[e.random] += n
		}
		if len(single) != len(names) || several[true] > 0 != c.joint || several[false] > 0 != c.joint {
			t.Errorf("%s: locks on %v, and on several %v", name, single, several)
		}
	}
}

// found is what a hundred experiments find.
func found(t *testing.T, s Setup) (resources []string) {
	t.Helper()
	experiments := Experiments(t, s)
	for seed := range 100 {
		e := experiments.Example(seed)
		r, kind := e.run(t, checker.Kind.Violation)
		if kind != "" && r.Beyond == nil {
			resources = append(resources, r.Witness().Resource)
		}
	}
	slices.Sort(resources)
	return slices.Compact(resources)
}

// A lock that is wrong about several resources alone is found only where there are several, and on one that it forgets.
func TestALockThatIsWrongAboutSeveral(t *testing.T) {
	s := Setup{Settings: "lock: {ttl: 2s}", Assume: Assumptions{RestartDelay: 2 * time.Second}, Lock: library(locksTheFirst)}
	if got := found(t, s); got != nil {
		t.Errorf("with one resource it is wrong about %v", got)
	}
	s.Resources = []string{"a", "b"}
	if got := found(t, s); len(got) == 0 {
		t.Error("with two it is not found")
	}
	s.Lock = nil
	if got := found(t, s); got != nil {
		t.Errorf("the library is wrong about %v", got)
	}
	s.Assume.RestartDelay = time.Second
	if got := found(t, s); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("with nodes that come back too early the library is wrong about %v", got)
	}
}
