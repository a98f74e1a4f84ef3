package mutants

import (
	"cmp"

	"redlocksim/checker"
)

// Settings are what a search for a bug runs with. Each turns on a feature that may have the bug: with the default settings
// alone a search says nothing about fencing, the guard, wake-up or batches.
type Settings struct {
	Name string
	// Text is a settings file.
	Text string
	// Known are what its lock is known to violate, without a bug too: a search is for others.
	Known []checker.Kind
}

// AllSettings lists the settings. Their budgets are those within which the library claims to be safe: without a bug a search
// finds nothing.
func AllSettings() []Settings {
	settings := func(name, lock, nodes, network, budget string) Settings {
		// Clients have a pause, a delay and a message in reserve.
		return Settings{Name: name, Text: "lock: {guard-time: 350ms, " + lock + "}\nnodes: {" + nodes + "}\nnetwork: {latency: " + cmp.Or(network, "{min: 1ms, max: 5ms}") + "}\n" +
			"budget: {clock-rate: 0.5%, pause: 200ms, delay: 100ms, " + budget + "}\n"}
	}
	fencing := settings("fencing", "ttl: 2s, fencing: true", "names: [A, B, C], persistence: always", "", "restart-delay: 0s")
	fencing.Text += "storage: fenced\n"
	return []Settings{
		settings("default", "ttl: 2s", "persistence: none", "", "restart-delay: 2s"),
		settings("three nodes", "ttl: 1s", "names: [A, B, C], persistence: none", "", "restart-delay: 1s"),
		settings("even nodes", "ttl: 2s", "names: [A, B, C, D], persistence: none", "", "restart-delay: 2s"),
		fencing,
		settings("guard", "ttl: 2s, guard: {max-ttl: 2s}", "persistence: none", "", "restart-delay: 0s"),
		settings("wake-up", "ttl: 2s, wake-up: 10ms, retry-delay: {min: 200ms, max: 400ms}", "persistence: none", "", "restart-delay: 2s"),
		settings("batching", "ttl: 2s, batching: 1, retry-delay: {min: 1ms, max: 5ms}", "persistence: none", "{min: 5ms, max: 40ms}", "restart-delay: 2s"),
		settings("renewal", "ttl: 1s, renewals: 2", "persistence: none", "{min: 1ms, max: 20ms}", "restart-delay: 1s"),
	}
}
