package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// What a protocol declares of its locks is what they do in a run.
func TestCapabilities(t *testing.T) {
	var locks []string
	for _, p := range protocols.All() {
		locks = append(locks, fmt.Sprintf("{protocol: %s}", p.Name))
	}
	for _, lock := range append(locks, "{protocol: redlock-plain, asking: sequential}", "{protocol: redlock-plain, asking: until-decided}") {
		s, err := scenarios.Parse("f.yaml", fmt.Appendf(nil, `title: t
source: s
explanation: e
claim: holds
clients: [c1, c2]
lock: %s
network: {latency: 10ms}
timeline:
  - {at: 1s, client: c1, do: [try-lock, try-lock]}
  - {at: 2s, client: c2, do: [lock: 1s]}
duration: 5s
expect: {findings: safe, unavailable: {at-most: 20s}}
`, lock))
		if err != nil {
			t.Fatal(err)
		}
		var did []*witness
		out, err := scenarios.Run(s[0], scenarios.Options{Foreign: &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
			p, _ := protocols.Find(env.Settings.Protocol)
			l, err := p.New(env)
			did = append(did, &witness{Locker: l})
			return did[len(did)-1], err
		}}})
		if err != nil {
			t.Fatal(err)
		}
		_, locksAll := did[0].Locker.(protocols.AllLocker)
		_, closes := did[0].Locker.(protocols.Closer)
		_, warns := did[0].leases[0].(protocols.Warner)
		_, holds := did[0].Locker.(protocols.Holder)
		_, renews := did[0].leases[0].(protocols.Renewer)
		_, permits := did[0].Locker.(protocols.Semaphores)
		_, voted := s[0].Lock.Votes(5)
		can := s[0].Lock.Capabilities()
		for _, c := range []struct {
			name          string
			declared, can bool
		}{
			{"all at once", can.AllAtOnce, voted && firstAcquire(out.History) == 20*time.Millisecond},
			{"re-entrant", can.Reentrant, len(did[0].leases) == 2},
			{"locks all", can.LocksAll, locksAll},
			{"permits", can.Permits, permits},
			{"closes", can.Closes, closes},
			{"warns", can.Warns, warns},
			{"renews", can.Renews, holds && renews},
			{"subscribes", can.Subscribes, slices.ContainsFunc(out.History, func(e history.Event) bool { return e.Name == protocols.Subscribed })},
		} {
			if c.declared != c.can {
				t.Errorf("%s: %s: declared %t, does %t", lock, c.name, c.declared, c.can)
			}
		}
	}
}

// A lock that is declared to give fencing tokens gives them, and no other does.
func TestTokensAreDeclared(t *testing.T) {
	locks := []string{"{fencing: true}", "{protocol: one-redis, sequence: true}", "{protocol: one-redis, fencing: true}", "{protocol: redlock-plain, tokens: per-node}"}
	for _, p := range protocols.All() {
		locks = append(locks, fmt.Sprintf("{protocol: %s}", p.Name))
	}
	for _, lock := range locks {
		found, err := scenarios.Parse("f.yaml", []byte(`title: t
source: s
explanation: e
claim: holds
clients: [c1, c2]
lock: `+lock+`
timeline: [{at: 1s, client: c1, do: [try-lock]}]
duration: 5s
expect: {findings: safe, unavailable: {at-most: 20s}}
`))
		if err != nil {
			t.Fatal(err)
		}
		s := found[0]
		out, err := scenarios.Run(s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		gives := slices.ContainsFunc(out.History, func(e history.Event) bool { return e.Kind == history.Return && e.Token > 0 })
		if declared := s.Lock.Capabilities().Tokens; declared != gives {
			t.Errorf("%s: tokens are declared: %t, and given: %t", lock, declared, gives)
		}
	}
}

// A protocol that does not forgive fails a release of a lock that no node has any more, and one that does succeeds.
func TestForgives(t *testing.T) {
	for _, p := range protocols.All() {
		if p.Capabilities.Service != "" {
			continue
		}
		const file = "{title: t, source: s, explanation: e, claim: unsound, clients: [c1, c2], lock: {protocol: %s, ttl: 20s}, " +
			"timeline: [%s{at: 1s, client: c1, do: [try-lock, sleep: 2s, unlock]}], duration: 5s, expect: {findings: safe, unavailable: {at-most: 20s}}}"
		parse := func(faults string) *scenarios.Scenario {
			s, err := scenarios.Parse("f.yaml", fmt.Appendf(nil, file, p.Name, faults))
			if err != nil {
				t.Fatal(err)
			}
			return s[0]
		}
		evictions := ""
		for _, node := range parse("").Nodes.Names {
			evictions += fmt.Sprintf("{at: 2s, fault: {evict: {node: %s}}}, ", node)
		}
		s := parse(evictions)
		out, err := scenarios.Run(s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(out.History, func(e history.Event) bool { return e.Kind == history.Return && e.Func == history.Release })
		if i < 0 {
			t.Errorf("%s: no release returned", p.Name)
			continue
		}
		if does := out.History[i].Outcome == history.OK; does != s.Lock.Capabilities().Forgives {
			t.Errorf("%s: forgives is declared %t, and it ends with %s %s", p.Name, !does, out.History[i].Outcome, out.History[i].Detail)
		}
	}
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
