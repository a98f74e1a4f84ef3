package sweep_test

import (
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search/attacks"
)

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
