package mutants

import (
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
)

// Settings are what a search for a bug in the locks of others runs with.
type Settings struct {
	Name string
	// Text is a settings file.
	Text string
	// Known are what its lock is known to violate, without a bug too: a search is for others.
	Known []checker.Kind
}

// OthersSettings lists those with which a search goes for bugs in the locks of others, as a stranger with such a lock would
// search: each implementation of Redlock in the list of Redis, and each other protocol with whatever it can be told to do.
// Their budgets are the larger of two in which the lock, as it is meant, shows nothing but what it is known for. A protocol or
// preset that is known for nothing, and takes no other nodes or habits, needs no entry.
func OthersSettings() []Settings {
	const (
		// harsh is a budget within which a sound lock shows nothing. Clients have a pause, a delay and a message in reserve.
		harsh = "budget: {clock-rate: 0.5%, pause: 200ms, delay: 100ms, restart-delay: 4s}\n"
		// late is one in which nothing is late but messages.
		late = "budget: {delay: 20ms}\n"
	)
	lasting := "nodes: {persistence: always}\n"
	forgetting := "nodes: {persistence: none}\n"
	one := "nodes: {names: [A], persistence: always}\n"
	oneService := "nodes: {names: [A]}\n"
	// shared is what comes of a lock that two may have, and deleting of one that deletes the key of another.
	shared := []checker.Kind{checker.LeaseOverlap, checker.StaleWrite, checker.LostUpdate, checker.Conduct}
	deleting := append(slices.Clone(shared), checker.Unprotected, checker.Contract)
	// lapsing is what comes of a watchdog that gives up when a renewal fails, and tells nobody.
	lapsing := append(slices.Clone(shared), checker.Unprotected)
	// leaking is what comes of several locks on one node each, of which one more may have been taken than was answered.
	leaking := append(slices.Clone(deleting), checker.Leftover)
	// asking is what comes of several locks that are asked again as soon as their nodes answer with an error.
	asking := append(slices.Clone(leaking), checker.BusyWait)
	tokens := []checker.Kind{checker.TokenRegressed, checker.TokenRepeated}
	of := func(name, lock, nodes, budget string, known ...checker.Kind) Settings {
		return Settings{name, "lock: {guard-time: 350ms, " + lock + "}\n" + nodes + "network: {latency: {min: 1ms, max: 5ms}}\n" + budget, known}
	}
	plain := func(habit, budget string, known ...checker.Kind) Settings {
		return of("redlock-plain, "+habit, "protocol: redlock-plain, ttl: 4s, "+habit, forgetting, budget, known...)
	}
	preset := func(name, budget string, known ...checker.Kind) Settings {
		return of(name, "preset: "+name+", ttl: 4s", forgetting, budget, known...)
	}
	all := []Settings{
		plain("asking: parallel", harsh),
		plain("backoff: 100%", harsh),
		plain("attempts: 3", harsh),
		plain("give-up: 2s", harsh),
		plain("value: client", harsh, deleting...),
		plain("tokens: one-node", harsh, tokens...),
		plain("tokens: per-node", harsh, tokens...),
		plain("tokens: before", harsh, tokens...),
		plain("cleanup: del", harsh, deleting...),
		preset("redsync", late),
		preset("redis-distlock", harsh, deleting...),
		preset("redlock-cpp", harsh, checker.Contract, checker.LeaseOverlap, checker.Unprotected),
		preset("node-redlock", harsh, checker.Conduct, checker.Contract),
		of("single", "protocol: single, ttl: 2s", one, late),
		of("single, backoff", "protocol: single, ttl: 2s, backoff: 100%, attempts: 5, give-up: 2s", one, late),
		of("single, get-del", "protocol: single, ttl: 2s, release: get-del", one, late, checker.Conduct, checker.Contract),
		of("single, del", "protocol: single, ttl: 2s, release: del", one, late, deleting...),
		of("get-set", "protocol: get-set, ttl: 2s", one, late, deleting...),
		of("redisson", "protocol: redisson, ttl: 2s", lasting, late, lapsing...),
		of("redisson, lease time", "protocol: redisson, ttl: 2s, watchdog: false", lasting, late, checker.Conduct),
		of("redisson-fair", "protocol: redisson-fair, ttl: 2s", lasting, late, lapsing...),
		of("redisson-fair, lease time", "protocol: redisson-fair, ttl: 2s, watchdog: false", lasting, late, checker.Conduct),
		of("redisson-multi", "protocol: redisson-multi, ttl: 2s", lasting, late, asking...),
		of("redisson-multi, lease time", "protocol: redisson-multi, ttl: 2s, watchdog: false", lasting, late, asking...),
		of("redisson-multi, all", "protocol: redisson-multi, ttl: 2s, quorum: 5", lasting, late, asking...),
		of("consensus", "protocol: consensus, ttl: 2s", "nodes: {names: [A, B, C]}\nstorage: fenced\n", harsh),
		of("consensus, told", "protocol: consensus, ttl: 2s, belief: told", "nodes: {names: [A, B, C]}\n", harsh),
		of("db-row", "protocol: db-row, ttl: 2s", oneService, late, shared...),
		of("db-row, transaction", "protocol: db-row, ttl: 2s, effects: transaction", oneService, late),
		of("db-unique", "protocol: db-unique, ttl: 2s", oneService, late),
		of("db-unique, clean-up", "protocol: db-unique, ttl: 2s, clean-up: 5s", oneService, late, shared...),
	}
	isListed := func(name string) bool {
		return slices.ContainsFunc(all, func(s Settings) bool { return s.Name == name || strings.HasPrefix(s.Name, name+", ") })
	}
	for _, name := range protocols.Presets() {
		if !isListed(name) {
			all = append(all, preset(name, harsh))
		}
	}
	for _, p := range protocols.All() { // but for the library, what is broken by design, and what has no keys
		name, nodes := string(p.Name), one
		if p.Capabilities.Service != "" {
			nodes = oneService
		}
		if !isListed(name) && name != "redlock" && name != "one-redis" && !p.Capabilities.Keyless {
			all = append(all, of(name, "protocol: "+name+", ttl: 2s", nodes, late))
		}
	}
	return all
}
