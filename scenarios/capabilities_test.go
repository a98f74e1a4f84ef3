package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// What a protocol declares of its locks is what they do in a run.
func TestCapabilities(t *testing.T) {
	locks := []string{"asking: sequential, protocol: redlock-plain", "asking: until-decided, protocol: redlock-plain", "tokens: per-node, protocol: redlock-plain",
		"fencing: true", "protocol: one-redis, sequence: true", "protocol: one-redis, fencing: true"}
	for _, p := range protocols.All() {
		locks = append(locks, "protocol: "+string(p.Name))
	}
	for _, lock := range locks {
		s := scenariotest.Given(t, "duration: 5s\nnetwork: {latency: 10ms}\nlock: {"+lock+`}
timeline:
  - {at: 1s, client: client-1, do: [try-lock, try-lock]}
  - {at: 2s, client: client-2, do: [lock: 1s]}`)
		var did []*witness
		h := scenariotest.Ran(t, s, scenarios.Options{Foreign: &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
			p, _ := protocols.Find(env.Settings.Protocol)
			l, err := p.New(env)
			did = append(did, &witness{Locker: l})
			return did[len(did)-1], err
		}}}).History
		has := func(is func(history.Event) bool) bool { return slices.ContainsFunc(h, is) }
		_, locksAll := did[0].Locker.(protocols.AllLocker)
		_, closes := did[0].Locker.(protocols.Closer)
		_, warns := did[0].leases[0].(protocols.Warner)
		_, holds := did[0].Locker.(protocols.Holder)
		_, renews := did[0].leases[0].(protocols.Renewer)
		_, permits := did[0].Locker.(protocols.Semaphores)
		_, voted := s.Lock.Votes(5)
		can := s.Lock.Capabilities()
		for _, c := range []struct {
			name          string
			declared, can bool
		}{
			{"all at once", can.AllAtOnce, voted && firstAcquire(h) <= 40*time.Millisecond}, // with its token,
			{"re-entrant", can.Reentrant, len(did[0].leases) == 2},
			{"locks all", can.LocksAll, locksAll},
			{"permits", can.Permits, permits},
			{"closes", can.Closes, closes},
			{"warns", can.Warns, warns},
			{"renews", can.Renews, holds && renews},
			{"subscribes", can.Subscribes, has(func(e history.Event) bool { return e.Name == protocols.Subscribed })},
			{"tokens", can.Tokens, has(func(e history.Event) bool { return e.Kind == history.Return && e.Token > 0 })},
			{"forgives", can.Forgives, can.Service != "" && can.Forgives || can.Service == "" && forgives(t, lock, s.Nodes.Names)},
		} {
			if c.declared != c.can {
				t.Errorf("%s: %s: declared %t, does %t", lock, c.name, c.declared, c.can)
			}
		}
	}
}

// forgives says whether a release succeeds of a lock that no node has any more.
func forgives(t *testing.T, lock string, nodes []string) bool {
	text := "duration: 5s\nlock: {ttl: 20s, " + lock + "}\ntimeline:\n  - {at: 1s, client: client-1, do: [try-lock, sleep: 2s, unlock]}"
	for _, node := range nodes {
		text += fmt.Sprintf("\n  - {at: 2s, fault: {evict: {node: %s}}}", node)
	}
	h := scenariotest.Ran(t, scenariotest.Given(t, text), scenarios.Options{}).History
	i := slices.IndexFunc(h, func(e history.Event) bool { return e.Kind == history.Return && e.Func == history.Release })
	return h[i].Outcome == history.OK
}

// witness is a locker that keeps the leases which were granted.
type witness struct {
	protocols.Locker
	leases []protocols.Lease
}

func (w *witness) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	l, err := w.Locker.TryLock(ctx, resource, ttl)
	if err == nil {
		w.leases = append(w.leases, l)
	}
	return l, err
}

// firstAcquire is how long the first granted acquire took.
func firstAcquire(h history.History) time.Duration {
	called := int64(0)
	for _, e := range h {
		switch {
		case e.Kind == history.Call && called == 0:
			called = e.Time
		case e.Kind == history.Return:
			return time.Duration(e.Time - called)
		}
	}
	return 0
}
