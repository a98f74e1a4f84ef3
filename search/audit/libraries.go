package audit

import (
	"slices"

	"redlocksim/scenarios/protocols"
)

// library is one that takes the lock: what a settings file says in its place, and what somebody who uses it can change.
type library struct {
	name string
	// lock is what stands under lock in a settings file; what the file itself says there overrides it.
	lock string
	// sets are the settings of the lock that it has, and what they are called there. Every lock has a time to live, and what a
	// caller does by itself, the guard time, is no setting of a library. Nil if they are all there are: the lock is one's own.
	sets map[string]string
	// extends is how a lock of it is extended or renewed; empty if it cannot be.
	extends string
	// renews says that it renews its locks unless it is told not to, and always that it cannot be told.
	renews, always bool
	// note says which of several locks it is; empty if there is only one.
	note string
}

// Settings that only some libraries have, by their paths under lock.
const (
	constantKey = "drift.constant"
	factorKey   = "drift.factor"
	timeoutKey  = "node-timeout"
	watchdogKey = "watchdog"
)

// redissons are the settings of Redisson's locks, and noLeaseTime is how they are renewed.
var redissons = map[string]string{timeoutKey: "timeout of the configuration", watchdogKey: "leaseTime"}

const noLeaseTime = "no lease time"

// catalogue is the libraries that somebody else wrote, or this project, with what their code and documentation say can be set;
// the versions are those of the presets.
var catalogue = []library{
	// redlock/options.go, fencing.go, guard.go and renew.go.
	{name: ourLibrary, extends: "Client.Hold", sets: map[string]string{constantKey: "WithDrift", factorKey: "WithDrift", timeoutKey: "WithNodeTimeout",
		"quorum": "WithQuorum", "renewals": "Renewal.Limit and Renewal.MaxTime", "guard": "WithRestartGuard", "fencing": "WithFencing", "clock": "the Clock of WithRuntime"}},
	// redlock/single, with the same options.
	{name: "one-redis", lock: "{protocol: one-redis}", extends: "Client.Hold", sets: map[string]string{constantKey: "WithDrift", factorKey: "WithDrift", timeoutKey: "WithNodeTimeout",
		"renewals": "Renewal.Limit and Renewal.MaxTime", "guard": "WithRestartGuard", "fencing": "WithFencing", "clock": "the Clock of WithRuntime"}},
	// lib/redlock/client.rb: options of Client.new and lock; quorum and CLOCK_DRIFT_FACTOR are fixed.
	{name: "redlock-rb", extends: "option extend of lock", sets: map[string]string{timeoutKey: "redis_timeout"}},
	// redlock/__init__.py: a connection is a dictionary for StrictRedis; quorum and clock_drift_factor are fixed.
	{name: "redlock-py", sets: map[string]string{timeoutKey: "socket_timeout of each connection"}},
	// src/RedLock.php: servers, retryDelay and retryCount, and no time-out but that of connecting; php.ini has the one for
	// reading.
	{name: "redlock-php", sets: map[string]string{timeoutKey: "default_socket_timeout of php.ini"}},
	// classes/mutex/PHPRedisMutex.php: takes connections of phpredis.
	{name: "phpredis-mutex", sets: map[string]string{timeoutKey: "OPT_READ_TIMEOUT of each connection"}},
	// redsync.go: its options; the quorum is len(pools)/2 + 1.
	{name: "redsync", extends: "Mutex.Extend", sets: map[string]string{factorKey: "WithDriftFactor", timeoutKey: "WithTimeoutFactor"}},
	// RedissonLock.java, RedissonFairLock.java and RedissonRedLock.java, whose minLocksAmount is fixed; Config.java and
	// BaseConfig.java have lockWatchdogTimeout and timeout; a lease time turns the watchdog off. The preset is that of the
	// last.
	{name: "redisson", lock: "{protocol: redisson, ttl: 30s, node-timeout: 3s, clock: wall}", extends: noLeaseTime, renews: true, sets: redissons,
		note: "redisson is its RLock, on one Redis; its RedissonRedLock on several is redisson-multi"},
	{name: "redisson-fair", lock: "{protocol: redisson-fair, ttl: 30s, node-timeout: 3s, clock: wall}", extends: noLeaseTime, renews: true, sets: redissons},
	{name: "redisson-multi", lock: "{preset: redisson}", extends: noLeaseTime, renews: true, sets: redissons,
		note: "redisson-multi is RedissonRedLock, on several independent nodes; RLock on one Redis is redisson"},
	// lib/Redis/DistLock.pm: takes connections of Redis.pm; the quorum and DRIFT_FACTOR are fixed.
	{name: "redis-distlock", extends: "method extend", sets: map[string]string{timeoutKey: "read_timeout of each connection"}},
	// redlock-cpp/redlock.cpp: SetRetry is all that can be set.
	{name: "redlock-cpp", extends: "ContinueLock", sets: map[string]string{}},
	// src/redlock-cs/Redlock.cs: takes connections; Quorum and ClockDriveFactor are fixed.
	{name: "redlock-cs", sets: map[string]string{timeoutKey: "syncTimeout of each connection"}},
	// RedLockNet.SERedis/RedLock.cs: quorum and ClockDriftFactor are fixed; StartAutoExtendTimer cannot be left out.
	{name: "redlock-net", extends: "its timer", renews: true, always: true, sets: map[string]string{timeoutKey: "SyncTimeout of each RedLockEndPoint"}},
	// src/ScarletLock.Core/DistributedLockManager.cs: its client has no time-out for asynchronous calls.
	{name: "scarletlock", sets: map[string]string{}},
	// src/index.ts: driftFactor is a setting, and the quorum is none; commandTimeout is one of ioredis.
	{name: "node-redlock", extends: "using", sets: map[string]string{factorKey: "driftFactor", timeoutKey: "commandTimeout of ioredis"}},
}

// libraries are those that are no programs, those first that most people want. What is only a protocol is a lock of one's
// own.
func libraries() []library {
	all := []library{catalogue[0], {name: "single"}}
	all = append(all, catalogue[1:]...)
	for _, p := range protocols.All() {
		if name := string(p.Name); p.Capabilities.Service == "" && !slices.ContainsFunc(all, func(l library) bool { return l.name == name }) {
			all = append(all, library{name: name})
		}
	}
	for i := range all {
		l := &all[i]
		isPreset := slices.Contains(protocols.Presets(), l.name)
		switch {
		case l.lock != "" || l.name == ourLibrary:
		case isPreset:
			l.lock = "{preset: " + l.name + "}"
		default:
			l.lock = "{protocol: " + l.name + "}"
		}
		if l.sets == nil {
			l.extends = "a script that compares the value"
		}
	}
	return all
}

// libraryOf is the library of a name; false if there is none.
func libraryOf(name string) (library, bool) {
	all := libraries()
	i := slices.IndexFunc(all, func(l library) bool { return l.name == name })
	if i < 0 {
		return library{}, false
	}
	return all[i], true
}

// libraryNames are the words for them.
func libraryNames() []string {
	var names []string
	for _, l := range libraries() {
		names = append(names, l.name)
	}
	return names
}

// ofPreset is the library that a preset of settings files stands for.
func ofPreset(preset string) string {
	if preset == "redisson" {
		return "redisson-multi"
	}
	return preset
}

// has says whether somebody who uses the library can change a setting of the lock, by its path under lock, and what it is
// called there; empty if it has no name of its own.
func (l *library) has(path string) (called string, is bool) {
	if l.sets == nil || path == "ttl" || path == "guard-time" {
		return "", true
	}
	called, is = l.sets[path]
	return called, is
}
