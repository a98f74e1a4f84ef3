package protocols

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/sim/kernel"
)

// Preset is the name of a real implementation of Redlock in lower case: one of those that the Redis documentation lists.
// It stands for what that implementation does by default, as far as the settings can say it. Each names the source of its
// numbers and what is left out.
//
// To add one: its line in presets.
type Preset string

var _ = strictyaml.EnumOf("preset", presetNames()...)

func presetNames() []Preset {
	var all []Preset
	for _, p := range presets {
		all = append(all, p.name)
	}
	return all
}

// Presets lists the names of the presets.
func Presets() []string {
	return strictyaml.WordsOf(reflect.TypeFor[Preset]())
}

// settings are the preset's for a TTL; zero is what the implementation has without one, or Default has.
func (p Preset) settings(ttl time.Duration) Settings {
	s := Default()
	s.Preset = p
	for _, known := range presets {
		if known.name == p {
			s.TTL = cmp.Or(ttl, known.ttl, s.TTL)
			known.set(&s)
		}
	}
	return s
}

// unlimited stands for a client that sets no limit to how long it waits for a node's answer. The operating system ends
// the wait: Linux gives a connection up when what was sent has not been acknowledged for 924.6 s (tcp_retries2 = 15;
// kernel documentation, ip-sysctl).
const unlimited = 924600 * time.Millisecond

// phpRead is how long PHP waits for an answer where nothing else is said: default_socket_timeout of php.ini, 60 s, which
// phpredis leaves in force (phpredis issues 70 and 1727).
const phpRead = 60 * time.Second

// presets are in the order of the list in the Redis documentation. Each set changes what is not as in Default, whose drift
// is theirs too unless they say otherwise: 1 % of the TTL and 2 ms.
var presets = []struct {
	name Preset
	ttl  time.Duration // without one; 0 if the caller has to give it
	set  func(*Settings)
}{
	// leandromoreira/redlock-rb 2.0.6 (f176e57), lib/redlock/client.rb and scripts.rb: DEFAULT_REDIS_TIMEOUT 0.1 s,
	// DEFAULT_RETRY_COUNT 3 after the first attempt, DEFAULT_RETRY_DELAY 200 ms and DEFAULT_RETRY_JITTER 50 ms, one server
	// after the other, CLOCK_MONOTONIC in whole milliseconds, unlock on every server after each failed attempt. Extending is
	// locking with the old value, in a script that also sets a key that is gone. Left out: that a failed extension
	// unlocks, and that a lock whose validity is exactly 0 is granted.
	{"redlock-rb", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, 100*time.Millisecond
		own.Attempts, own.RetryDelay = 4, Range{200 * time.Millisecond, 249 * time.Millisecond}
		own.Resolution = time.Millisecond
		own.Extending = ExtendReCreate
	})},
	// SPSCommerce/redlock-py (42ef491), redlock/__init__.py: default_retry_count 3, default_retry_delay 0.2 s, not random,
	// time.time() in whole milliseconds, one server after the other. An error of any server is raised although a quorum has
	// voted, and the keys stay (its issue 27). It connects without a timeout: redis-py's socket_timeout was None before its
	// 8.0 (redis-py issue 2243). It has no extending; the rule stands in.
	{"redlock-py", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, unlimited
		own.Attempts, own.RetryDelay = 3, Range{200 * time.Millisecond, 200 * time.Millisecond}
		s.Clock = wallClock
		own.Resolution = time.Millisecond
		own.Value, own.FailedNode = PerCall, FailsGrant
	})},
	// ronnylt/redlock-php 1.0.1 (535d616), src/RedLock.php: retryCount 3, retryDelay from half of 200 ms to 200 ms,
	// microtime(true), one server after the other. The quorum is count / 2 + 1 in floating point, hence 3.5 of 5. Nothing
	// catches the exception of a server that fails, in lock and unlock. Its README gives connections a timeout of 0.01 s,
	// which is for connecting (phpredis pull request 260). Left out: that a server that is down when the first lock is
	// taken throws there too, and that the token is uniqid(), which is value-from: time: clients of a scenario that ask at
	// the same time do so in the same microsecond. It has no extending; the rule stands in.
	{"redlock-php", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, phpRead
		own.Attempts, own.RetryDelay = 3, Range{100 * time.Millisecond, 200 * time.Millisecond}
		s.Clock = wallClock
		own.Rounding = RoundUp
		own.Value, own.FailedNode, own.FailedRelease = PerCall, EndsCall, Stop
	})},
	// php-lock/lock 2.2.1 (63c1b26), the last with a class PHPRedisMutex: classes/mutex/RedisMutex.php, SpinlockMutex.php and
	// classes/util/Loop.php. Its timeout, 3 s, is the time for which code may run under the lock and also for which lock
	// tries; keys live a second longer, so that the TTL here is 4 s, and the second is all the drift. The first delay is
	// from 10 to 20 ms, then 1.25 times as long each, at most 500 ms. microtime(true), one server after the other, release on
	// every server after each failed attempt. Its README connects without timeouts. Left out: that it compares what elapsed
	// with the keys' TTL, not with the timeout, and that with a majority of servers failed it throws at once. It has no
	// extending; the rule stands in.
	{"phpredis-mutex", 4 * time.Second, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, phpRead
		own.Drift = Drift{Constant: time.Second}
		own.RetryDelay, own.Backoff = Range{10 * time.Millisecond, 500 * time.Millisecond}, faults.RateOf(decimal.New(25, -2))
		own.GiveUp = max(s.TTL-time.Second, time.Millisecond)
		s.Clock = wallClock
	})},
	// go-redsync/redsync 4.18.1, redsync.go and mutex.go: expiry 8 s, tries 32, delays from 50 up to 250 ms, drift factor
	// 0.01 and no constant, timeout factor 0.05 of the expiry for acquiring and cleaning up, all pools at once and waited
	// for (WithFailFast is off), time.Now, which is monotonic in Go. Its README has it on go-redis, here 9.23.0,
	// options.go: without ContextTimeoutEnabled that keeps to the timeout only while it connects, and waits for
	// ReadTimeout, 5 s, over a connection that it has. An extend or a release, for which redsync sets no timeout, it sends
	// MaxRetries 3 times again, and connects for that in DialerRetries 5 tries of DialTimeout 5 s. An extend is by the
	// expiry. docs/lock-programs.md compares this with the library itself.
	{"redsync", 8 * time.Second, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		s.NodeTimeout = s.TTL / 20
		own.ConnectedTimeout, own.Resends = 5*time.Second, 3
		own.Reconnects, own.ReconnectTimeout = 5, 5*time.Second
		own.Drift.Constant = 0
		own.Attempts, own.RetryDelay = 32, Range{50 * time.Millisecond, 249 * time.Millisecond}
		own.Value, own.FixedTTL = PerCall, true
	})},
	// redisson/redisson, RedissonRedLock (0482efe) over RedissonMultiLock (04607ef) and config/Config.java, BaseConfig.java
	// (as of 2026): lockWatchdogTimeout 30 s, timeout 3 s, retryDelay from 1 to 2 s. System.currentTimeMillis says how much is
	// left of the time that a call may wait. The protocol has the rest.
	{"redisson", 30 * time.Second, as("redisson-multi", func(s *Settings, own *RedissonMultiSettings) {
		s.NodeTimeout = 3 * time.Second
		own.RetryDelay = Range{time.Second, 2 * time.Second}
		s.Clock = wallClock
	})},
	// sbertrang/redis-distlock 0.07 (1e34b5e), lib/Redis/DistLock.pm: RETRY_COUNT 3, RETRY_DELAY rand(0.2) s,
	// Time::HiRes::time, one server after the other. Nothing is released between attempts or after them. An error while
	// locking counts as no vote; in release nothing catches it. Extending sets the key whoever's it is. It connects without
	// a timeout, and Redis.pm has none unless it is told one (its option read_timeout).
	{"redis-distlock", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, unlimited
		own.Attempts, own.RetryDelay = 3, Range{0, 200 * time.Millisecond}
		s.Clock = wallClock
		own.Value, own.Cleanup, own.FailedRelease = PerCall, NoCleanup, Stop
		own.Extending = ExtendSet
	})},
	// jacket-code/redlock-cpp (f9f5618), redlock-cpp/redlock.cpp: m_defaultRetryCount 3, delays from 100 up to 300 ms,
	// time(NULL) in whole seconds, one server after the other. AddServerUrl connects with 1.5 s, leaves out whom it cannot
	// reach, and takes the majority of the others; commands have no timeout, since its hiredis 0.11.0 uses that one to
	// connect. ContinueLock also sets a key that is gone. Left out: that it gives the lock a new value then, and that a
	// connection which has failed stays failed.
	{"redlock-cpp", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, unlimited
		own.ConnectTimeout = 1500 * time.Millisecond
		own.Attempts, own.RetryDelay = 3, Range{100 * time.Millisecond, 299 * time.Millisecond}
		s.Clock = wallClock
		own.Resolution = time.Second
		own.Value = PerCall
		own.Extending = ExtendReCreate
	})},
	// KidFashion/redlock-cs 2.0.8 (9765a54), src/redlock-cs/Redlock.cs: DefaultRetryCount 3, DefaultRetryDelay up to 200 ms,
	// DateTime.Now, one server after the other. LockInstance catches errors, UnlockInstance does not: the first server that
	// fails ends a release and a clean-up. It needs StackExchange.Redis 2.0.519, whose syncTimeout is 5 s. It has no
	// extending; the rule stands in.
	{"redlock-cs", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, 5*time.Second
		own.Attempts, own.RetryDelay = 3, Range{0, 199 * time.Millisecond}
		s.Clock = wallClock
		own.Value, own.FailedRelease = PerCall, Stop
	})},
	// samcook/RedLock.net 2.3.2 (dcfe373), RedLockNet.SERedis/RedLock.cs, Lua/Extend.lua and Configuration/
	// InternallyManagedRedLockConnectionProvider.cs: DefaultQuorumRetryCount 3, DefaultQuorumRetryDelayMs up to 400 ms,
	// DefaultSyncTimeout 1 s, Stopwatch, all servers at once and waited for. Extending also sets a key that is gone. It
	// extends of its own, by the TTL every half of that; here the timeline says when.
	{"redlock-net", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		s.NodeTimeout = time.Second
		own.Attempts, own.RetryDelay = 3, Range{0, 399 * time.Millisecond}
		own.Value, own.FixedTTL = PerCall, true
		own.Extending = ExtendReCreate
	})},
	// ScarletLock, psibernetic/scarletlock in the list, of which aidapsibr/scarletlock (f882958) has the source:
	// src/ScarletLock.Core/DistributedLockManager.cs. It tries for ever, whatever is asked of it, with delays from 10 up to
	// 200 ms, DateTime.Now, one server after the other. It cleans up where it was granted the key, and nothing catches an
	// error while it releases. Its StackExchange.Redis 1.0.481 has no timeout for asynchronous calls: asyncTimeout came with
	// 2.0. Left out: that an error while it cleans up ends the call. It has no extending; the rule stands in.
	{"scarletlock", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = Sequential, unlimited
		own.RetryDelay = Range{10 * time.Millisecond, 199 * time.Millisecond}
		s.Clock = wallClock
		own.Value, own.Cleanup, own.FailedRelease = PerCall, CleanupVoters, Stop
	})},
	// mike-marcacci/node-redlock 5.0.0-beta.2 and later (afe5cf9), src/index.ts: retryCount 10 after the first attempt,
	// retryDelay 200 ms and retryJitter 100 ms either way, Date.now(), all clients at once until a quorum agrees. It releases
	// when it gives up and not between attempts (its issue 369), and looks at no validity, on acquiring and extending (issues
	// 296 and 369). ioredis' commandTimeout is unset. Left out: that ioredis keeps a command for a server that is down for
	// up to maxRetriesPerRequest = 20 reconnections, that releases and extensions are tried again too, and that an extension
	// of a lease which has ended is refused. docs/lock-programs.md compares a call of it, and a caller that calls again, with
	// the library itself.
	{"node-redlock", 0, as("redlock-plain", func(s *Settings, own *RedlockPlainSettings) {
		own.Asking, s.NodeTimeout = UntilDecided, unlimited
		own.Attempts, own.RetryDelay = 11, Range{100 * time.Millisecond, 300 * time.Millisecond}
		s.Clock = wallClock
		own.Resolution = time.Millisecond
		own.Value, own.Cleanup, own.Validity = PerCall, CleanupAtEnd, Unchecked
	})},
}

// as is the settings of a preset for a protocol.
func as[T any](protocol Name, set func(s *Settings, own *T)) func(*Settings) {
	return func(s *Settings) {
		*s = s.With(protocol)
		if !Change(s, func(own *T) { set(s, own) }) {
			panic(fmt.Sprintf("protocols: %T are no settings of %s", *new(T), protocol))
		}
	}
}

// wallClock is the clock of those that measure with the time of day.
var wallClock = kernel.WallClock
