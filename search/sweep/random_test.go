package sweep_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
	"redlocksim/sim/history"
)

var randomSettings = flag.Int("random-settings", 40, "how many random settings are attacked; 500 take about a minute")

// drawn is a random settings file: latency distributions, TTLs, nodes, quorums, presets, guard times, drift, kinds of clock.
func drawn(r *rand.Rand) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	n := 1 + r.IntN(7)
	lock := fmt.Sprintf("ttl: %dms, node-timeout: %dms, guard-time: %dms, clock: %s, drift: {factor: %d%%, constant: %dms}",
		2000+r.IntN(20000), 100+r.IntN(300), r.IntN(2)*r.IntN(1000), one("monotonic", "boottime", "wall"), r.IntN(20), r.IntN(20))
	if r.IntN(3) == 0 {
		lock += ", preset: " + one(protocols.Presets()...)
	} else {
		lock += ", protocol: " + one("redlock", "redlock-plain") + fmt.Sprintf(", quorum: %d", n/2+1+r.IntN(n-n/2))
	}
	latency := fmt.Sprintf("{min: %dms, max: %dms}", r.IntN(5), 5+r.IntN(30))
	if r.IntN(2) == 0 {
		latency = fmt.Sprintf("{min: %dus, p50: 3ms, p99: 9ms, max: %dms}", r.IntN(3000), 10+r.IntN(30))
	}
	return fmt.Sprintf("lock: {%s}\nnodes: {names: %v, persistence: %s}\nnetwork: {latency: %s}\nbudget: {clock-rate: %d%%, clock-step: %dms, pause: %dms, suspend: %dms, restart-delay: %dms, memory-loss: %d}\n",
		lock, "["+strings.Join(variant.NodeNames(n), ", ")+"]", one("none", "everysec", "always"), latency, r.IntN(8), r.IntN(2)*r.IntN(400), r.IntN(3000), r.IntN(2)*r.IntN(800), r.IntN(25000), r.IntN(n+1))
}

// Whatever the settings, an attack takes place or says why it does not, which few do.
func TestAttacksTakePlace(t *testing.T) {
	tried, untested, broken := 0, 0, 0
	for seed := range uint64(*randomSettings) {
		text := drawn(rand.New(rand.NewPCG(seed, 1)))
		s, err := scenarios.ParseSettings("drawn", []byte(text))
		if err != nil {
			continue // a combination that the lock refuses
		}
		all, _ := attacks.Find()
		for _, x := range all {
			out, err := x.Run(&attacks.Settings{Scenario: s, Pause: s.Budget.Pause}, scenarios.Options{Seed: seed})
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			tried++
			switch {
			case out.Broken != "":
				broken++
			case out.NotTested != "":
				untested++
				t.Logf("seed %d, %s: %s", seed, x.Name, out.NotTested)
			default:
				if missing := absent(x.Name, out.Result); missing != "" {
					t.Errorf("seed %d, %s counts as tested, and %s\n%s", seed, x.Name, missing, text)
				}
			}
		}
	}
	t.Logf("%d attacks: %d broke the lock, %d not tested", tried, broken, untested)
	if tried == 0 || untested*20 > tried {
		t.Errorf("%d of %d attacks were not tested, more than 5 %%", untested, tried)
	}
}

// absent says what of an attack that held is not in its run, looked for in the history and not by what the attack says that
// it must have reached.
func absent(attack string, r *scenarios.Result) string {
	const holder, second = "client-1", "client-2"
	at := map[string]int{} // where an event of a client was first
	writes := 0
	for i := range r.History {
		e := &r.History[i]
		name := e.Process + " " + faults.EventName(e)
		if _, there := at[name]; !there {
			at[name] = i + 1
		}
		if e.Kind == history.Effect {
			writes++
		}
	}
	inOrder := func(events ...string) string {
		last := 0
		for _, name := range events {
			if at[name] <= last {
				return name + " is not there, or not in its turn"
			}
			last = at[name]
		}
		return ""
	}
	switch {
	case len(r.NotInjected)+len(r.Idle) > 0:
		return fmt.Sprintf("its timeline was not carried out: %v%v", r.NotInjected, r.Idle)
	case attack == "clocks":
		return inOrder(holder+" acquire-done", second+" acquire-called", second+" acquire-done")
	case attack == "restart", attack == "split":
		return inOrder(holder+" acquire-done", second+" acquire-called")
	case attack == "memory-loss":
		if over := at[holder+" belief-ended"]; over > 0 && over < at[second+" acquire-called"] {
			return "client-2 asks when client-1 believes no more"
		}
		return inOrder(holder+" acquire-done", second+" acquire-called")
	case attack == "pause" && writes < 2:
		return fmt.Sprintf("%d writes arrive", writes)
	case attack == "pause":
		return inOrder(holder+" acquire-done", holder+" checked", holder+" write-called")
	}
	return "no test says what it must come to"
}

// Implementations with habits that the general attacks would miss.
func TestAttacksOnImplementations(t *testing.T) {
	for _, c := range []struct {
		settings, attack string
		want             attacks.Broken
	}{
		// Each client takes the nodes that it reaches for all that there are.
		{"lock: {preset: redlock-cpp, ttl: 8s}", "split", "lease-overlap"},
		{"lock: {preset: redlock-cpp, ttl: 8s, connect-timeout: 0s}", "split", ""},
		// The watchdog renews the lock for as long as nothing keeps it from that.
		{"lock: {preset: redisson, ttl: 8s}", "clocks", "lease-overlap"},
		// The majority of five is rounded up to four. A node that fails ends the call, but another client can have the fifth.
		{"lock: {preset: redlock-php, ttl: 8s}\nbudget: {memory-loss: 2}", "memory-loss", ""},
		{"lock: {preset: redlock-php, ttl: 8s}\nbudget: {memory-loss: 3}", "memory-loss", "lease-overlap"},
		{"lock: {preset: redlock-py, ttl: 8s}\nbudget: {memory-loss: 1}", "memory-loss", "lease-overlap"},
		// A node from which locks are evicted votes, even under the restart guard: it never stopped.
		{"lock: {ttl: 8s, guard: {max-ttl: 8s}}\nbudget: {memory-loss: 1}", "memory-loss", "lease-overlap"},
		{"lock: {ttl: 8s, quorum: 4, guard: {max-ttl: 8s}}\nbudget: {memory-loss: 2}", "memory-loss", ""},
		{"lock: {ttl: 8s}\nbudget: {memory-loss: 5}", "memory-loss", "lease-overlap"},
		// A node that lost its memory does not vote under that guard.
		{"lock: {ttl: 8s, guard: {max-ttl: 8s}}\nbudget: {restart-delay: 0s}", "restart", ""},
		{"lock: {ttl: 8s, guard: {max-ttl: 8s}}\nbudget: {restart-delay: 0s, clock-step: 8s}", "restart", ""},
		// Unless the node's clock alone says when it may again, and that is stepped.
		{"lock: {ttl: 8s, guard: {max-ttl: 8s, trust-node-clock: true}}\nbudget: {restart-delay: 1s}", "restart", ""},
		{"lock: {ttl: 8s, guard: {max-ttl: 8s, trust-node-clock: true}}\nbudget: {restart-delay: 1s, clock-step: 9s}", "restart", "lease-overlap"},
		// An extension that comes too late sets every key again, whoever's it is.
		{"lock: {preset: redis-distlock, ttl: 8s}", "late-extend", "lease-overlap"},
		{"lock: {preset: redlock-cs, ttl: 8s}", "late-extend", ""},
		{"lock: {ttl: 8s}", "late-extend", ""},
		// A release that compares no values lets go of whatever it finds, also if it was called in time.
		{"lock: {protocol: single, ttl: 8s, release: del}", "late-release", "lease-overlap"},
		{"lock: {protocol: single, ttl: 8s}", "late-release", ""},
		{"lock: {protocol: redlock-plain, ttl: 8s, release: del}", "late-release", "lease-overlap"},
		{"lock: {preset: redisson, ttl: 8s, watchdog: false}", "late-release", ""},
		{"lock: {ttl: 8s}", "late-release", ""},
		// One node is no quorum for an extension, either.
		{"lock: {protocol: redlock-plain, ttl: 8s, extending: any-node}", "lost-extend", "lease-overlap"},
		{"lock: {protocol: redlock-plain, ttl: 8s}", "lost-extend", ""},
		{"lock: {ttl: 8s}", "lost-extend", ""},
		// A key that got no time to live is there for good.
		{"lock: {protocol: setnx-expire, ttl: 8s}", "crash", "not granted"},
		{"lock: {protocol: single, ttl: 8s}", "crash", ""},
		{"lock: {preset: redisson, ttl: 8s}", "crash", ""},
		{"lock: {ttl: 8s}", "crash", ""},
		// A pause that goes over into a suspension is as long as both.
		{"lock: {ttl: 8s, protocol: redlock-plain, clock: boottime, guard-time: 1900ms}\nbudget: {pause: 1s, suspend: 1s}", "pause", "stale-write"},
		{"lock: {ttl: 8s, protocol: redlock-plain, clock: boottime, guard-time: 2050ms}\nbudget: {pause: 1s, suspend: 1s}", "pause", ""},
	} {
		s, err := scenarios.ParseSettings("settings", []byte(c.settings+"\nnodes: {persistence: none}\nnetwork: {latency: 0s}\n"))
		if err != nil {
			t.Fatalf("%s: %v", c.settings, err)
		}
		found, _ := attacks.Find(c.attack)
		out, err := found[0].Run(&attacks.Settings{Scenario: s, Pause: s.Budget.Pause}, scenarios.Options{})
		if err != nil || out.Broken != c.want || out.NotTested != "" {
			t.Errorf("%s: %s: %q, want %q; not tested: %q, %v", c.settings, c.attack, out.Broken, c.want, out.NotTested, err)
		}
	}
}
