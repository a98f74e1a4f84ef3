package protocols

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"redlocksim/internal/rediscmd"
)

// redissonFair is Redisson's fair lock on the first node (its class RedissonFairLock; the scripts are those of that class
// in their meaning). Beside the RLock's hash there is a queue of the threads that wait, a list, and a sorted set of the
// times until which each is waited for. Only the head of the queue can take a lock that is free. A head that died blocks
// the rest until its time has passed: what was left of the lease when it queued up, and the wait time-out.
//
// The times are of the clients' wall clocks.
type redissonFair struct {
	*redisson
	waitTimeout string // in milliseconds
}

var redissonFairProtocol = Protocol{Name: "redisson-fair", New: newRedissonFair, Steps: redissonSteps, Sentences: redissonSentences, Capabilities: forgivingCapabilities,
	own: RedissonFairSettings{RedissonSettings{Watchdog: true}, 5 * time.Second}}

// RedissonFairSettings are those of Redisson's fair lock.
type RedissonFairSettings struct {
	RedissonSettings `yaml:",inline"`
	// WaitTimeout is how long the lock waits for the client at the head of its queue. Default: 5s. Example: 1s
	WaitTimeout time.Duration `yaml:"wait-timeout" faster:"milliseconds"`
}

func newRedissonFair(env Env) (Locker, error) {
	s := newSession(env)
	return &redissonFair{newRLock(&s, 0), milliseconds(Of[RedissonFairSettings](env.Settings).WaitTimeout)}, nil
}

// Check implements Own.
func (own RedissonFairSettings) Check(s Settings, _ int) error {
	return cmp.Or(wholePositive("wait-timeout", own.WaitTimeout), s.checkTTL())
}

func (x *redissonFair) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	l, err := x.acquire(ctx, resource, ttl, x.clock.Now().Add(forever), fairQueueUp)
	if err != nil {
		// The answer changes nothing: a thread that could not leave the queue is one that died.
		_ = x.script(x.node, fairLeave, fairKeys(resource), x.owner(ctx), x.waitTimeout)
	}
	return l, err
}

func (x *redissonFair) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.acquire(ctx, resource, ttl, x.clock.Now(), fairTake)
}

func (x *redissonFair) acquire(ctx context.Context, resource string, ttl time.Duration, deadline time.Time, script *rediscmd.Script) (Lease, error) {
	until, err := x.wait(ctx, deadline, redissonChannel(resource)+":"+x.owner(ctx), func() (time.Time, time.Duration, error) {
		start := x.clock.Now()
		left, err := remaining(x.script(x.node, script, append([]string{resource}, fairKeys(resource)...),
			milliseconds(ttl), x.owner(ctx), x.waitTimeout, x.wall()))
		return start.Add(ttl), left, err
	})
	if err != nil {
		return nil, err
	}
	l := &fairLease{redissonLease{redisson: x.redisson, held: held{ctx: ctx, ttl: ttl}, resource: resource}}
	l.believe(x.env, x.granted(ctx, resource, ttl, until))
	return l, nil
}

// fairKeys are the queue and the times.
func fairKeys(resource string) []string {
	return []string{"redisson_lock_queue:{" + resource + "}", "redisson_lock_timeout:{" + resource + "}"}
}

// besides implements what Settings.KeysOf asks for.
func (RedissonFairSettings) besides(resource string) []string {
	return append(fairKeys(resource), redissonChannel(resource))
}

// wall is the wall clock in milliseconds.
func (x *redisson) wall() string {
	return strconv.FormatInt(x.env.Wall().UnixMilli(), 10)
}

// fairLease is a fair lock that is held.
type fairLease struct{ redissonLease }

func (l *fairLease) Unlock(ctx context.Context) error {
	l.released(l.ctx, l.resource)
	return unlocked(l.script(l.node, fairUnlock, slices.Concat([]string{l.resource}, fairKeys(l.resource), []string{redissonChannel(l.resource)}),
		unlockMessage, milliseconds(l.ttl), l.owner(l.ctx), l.wall()))
}

// The scripts' arguments. KEYS: lock, queue, times, channel. ARGV of those that take: TTL, thread, wait time-out, now; of
// the unlock: message, TTL, thread, now; of fairLeave, whose KEYS are queue and times: thread, wait time-out.
const (
	// luaSweep removes the heads of the queue whose time has passed.
	luaSweep = `while true do
  local head = redis.call('lindex', KEYS[2], 0)
  if head == false then break end
  local timeout = redis.call('zscore', KEYS[3], head)
  if timeout ~= false and tonumber(timeout) <= tonumber(ARGV[4]) then
    redis.call('zrem', KEYS[3], head)
    redis.call('lpop', KEYS[2])
  else
    break
  end
end
`
	// luaTake takes a free lock for the head of the queue, or for anybody if nobody waits, and one more time for its
	// holder. The others will be waited for that much less.
	luaTake = luaSweep + `if redis.call('exists', KEYS[1]) == 0 and (redis.call('exists', KEYS[2]) == 0 or redis.call('lindex', KEYS[2], 0) == ARGV[2]) then
  redis.call('lpop', KEYS[2])
  redis.call('zrem', KEYS[3], ARGV[2])
  local waiting = redis.call('zrange', KEYS[3], 0, -1)
  for i = 1, #waiting do
    redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), waiting[i])
  end
  redis.call('hset', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
`
)

// fairTake tries once and does not queue up.
var fairTake = &rediscmd.Script{
	Lua: luaTake + `return 1`,
}

// fairQueueUp tries, queues up, and returns how long to wait at most before it tries again. A thread's time is that of the
// one before it, or the end of the lease for the first, and the wait time-out.
var fairQueueUp = &rediscmd.Script{
	Lua: luaTake + `local timeout = redis.call('zscore', KEYS[3], ARGV[2])
if timeout ~= false then
  return tonumber(timeout) - tonumber(ARGV[3]) - tonumber(ARGV[4])
end
local last = redis.call('lindex', KEYS[2], -1)
local ttl
if last ~= false and last ~= ARGV[2] then
  ttl = tonumber(redis.call('zscore', KEYS[3], last)) - tonumber(ARGV[4])
else
  ttl = redis.call('pttl', KEYS[1])
end
if redis.call('zadd', KEYS[3], ttl + tonumber(ARGV[3]) + tonumber(ARGV[4]), ARGV[2]) == 1 then
  redis.call('rpush', KEYS[2], ARGV[2])
end
return ttl`,
}

// fairLeave takes a thread that gives up out of the queue. Those behind it will be waited for that much less.
var fairLeave = &rediscmd.Script{
	Lua: `local queue = redis.call('lrange', KEYS[1], 0, -1)
local i = 1
while i <= #queue and queue[i] ~= ARGV[1] do
  i = i + 1
end
i = i + 1
while i <= #queue do
  redis.call('zincrby', KEYS[2], -tonumber(ARGV[2]), queue[i])
  i = i + 1
end
redis.call('zrem', KEYS[2], ARGV[1])
redis.call('lrem', KEYS[1], 0, ARGV[1])
return nil`,
}

// fairUnlock counts down, deletes the key at zero and tells the head of the queue, on a channel of its own.
var fairUnlock = &rediscmd.Script{
	Lua: luaSweep + `if redis.call('exists', KEYS[1]) == 0 then
  local head = redis.call('lindex', KEYS[2], 0)
  if head ~= false then
    redis.call('publish', KEYS[4] .. ':' .. head, ARGV[1])
  end
  return 1
end
if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then
  return nil
end
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return 0
end
redis.call('del', KEYS[1])
local head = redis.call('lindex', KEYS[2], 0)
if head ~= false then
  redis.call('publish', KEYS[4] .. ':' .. head, ARGV[1])
end
return 1`,
}
