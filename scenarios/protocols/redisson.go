package protocols

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// redisson is Redisson's RLock on the first node (its class RedissonLock; watchdog and re-entrance). The lock's key is
// a hash with one field, client:thread, which counts how often that thread has locked. With the watchdog the TTL is
// renewed every third of it, and the client believes in the lock until it releases it: when a renewal finds the lock
// lost Redisson tells nobody. Without it the TTL is the lease time.
//
// A request that fails ends the call, as an exception does there. What Redisson does to send a request again while it has
// no connection is left out.
type redisson struct {
	*session
	node      int
	started   int64                // by the wall clock
	watched   bool                 // whether its locks have watchdogs
	watchdogs map[string]*watchdog // by the key and its field
}

// The steps of the Redisson protocols that tell people what a waiter, the watchdog and a multi-lock do.
const (
	Subscribed      = "subscribed"
	Woken           = "woken"
	Waited          = "waited"
	WatchdogRenewed = "watchdog-renewed"
	WatchdogStopped = "watchdog-stopped"
	LeaseTimeSet    = "lease-time-set"
)

var redissonSteps = append([]string{"asked"}, redissonSentences...)

// redissonSentences are its steps that stories tell.
var redissonSentences = []string{Subscribed, Woken, Waited, WatchdogRenewed, WatchdogStopped}

var redissonProtocol = Protocol{Name: "redisson", New: newRedisson, own: RedissonSettings{Watchdog: true}, Steps: redissonSteps,
	Sentences: redissonSentences, Capabilities: redissonCapabilities}

var (
	redissonCapabilities = Capabilities{Reentrant: true, Subscribes: true}
	// forgivingCapabilities are those of its fair lock, whose script says 1 where there is no lock, and of RedissonRedLock,
	// whose release does not look at what comes of the single ones.
	forgivingCapabilities = Capabilities{Reentrant: true, Subscribes: true, Forgives: true}
)

// RedissonSettings are those of Redisson's locks.
type RedissonSettings struct {
	// Watchdog renews the locks every third of the TTL until they are released; without it the TTL is the lease time.
	// Default: true. Example: false
	Watchdog bool `yaml:"watchdog"`
}

// Check implements Own.
func (RedissonSettings) Check(s Settings, _ int) error { return s.checkTTL() }

func newRedisson(env Env) (Locker, error) {
	s := newSession(env)
	return newRLock(&s, 0), nil
}

// newRLock is an RLock on one node.
func newRLock(s *session, node int) *redisson {
	return &redisson{session: s, node: node, started: s.env.Wall().UnixNano(), watched: Of[RedissonSettings](s.env.Settings).Watchdog, watchdogs: map[string]*watchdog{}}
}

func (x *redisson) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.lock(ctx, resource, ttl, x.clock.Now().Add(forever))
}

func (x *redisson) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.lock(ctx, resource, ttl, x.clock.Now())
}

// forever is how long a call waits that ends with its context only.
const forever = 100 * 365 * 24 * time.Hour

func (x *redisson) lock(ctx context.Context, resource string, ttl time.Duration, deadline time.Time) (Lease, error) {
	until, err := x.take(ctx, resource, ttl, deadline)
	if err != nil {
		return nil, err
	}
	l := &redissonLease{redisson: x, held: held{ctx: ctx, ttl: ttl}, resource: resource}
	l.believe(x.env, until)
	return l, nil
}

// take takes the lock, and returns until when the client believes in it.
func (x *redisson) take(ctx context.Context, resource string, ttl time.Duration, deadline time.Time) (time.Time, error) {
	until, err := x.wait(ctx, deadline, redissonChannel(resource), func() (time.Time, time.Duration, error) { return x.ask(ctx, resource, ttl) })
	if err != nil {
		return until, err
	}
	return x.granted(ctx, resource, ttl, until), nil
}

// besides implements what Settings.KeysOf asks for: the scripts take the channel for a key.
func (RedissonSettings) besides(resource string) []string { return []string{redissonChannel(resource)} }

// redissonChannel is where releases are published.
func redissonChannel(resource string) string { return "redisson_lock__channel:{" + resource + "}" }

// owner is the field that stands for the calling thread. Redisson draws an identifier when it starts, so that a process that is
// started again does not have the locks that it had before; its name and the moment of its start do that here.
func (x *redisson) owner(ctx context.Context) string {
	return fmt.Sprintf("%s@%d:%d", x.env.Name(), x.started, x.env.Thread(ctx))
}

// redissonLock takes the lock or, if somebody else has it, returns its PTTL (its tryLockInnerAsync).
var redissonLock = &rediscmd.Script{
	Lua: `if (redis.call('exists', KEYS[1]) == 0) then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`,
}

// redissonUnlock counts down, deletes the key at zero and publishes that (its unlockInnerAsync). It returns nil if
// the thread does not have the lock.
var redissonUnlock = &rediscmd.Script{
	Lua: `if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
  return nil
end
local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1)
if (counter > 0) then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return 0
else
  redis.call('del', KEYS[1])
  redis.call('publish', KEYS[2], ARGV[1])
  return 1
end`,
}

// redissonRenew sets the TTL if the thread has the lock: what the watchdog does.
var redissonRenew = &rediscmd.Script{
	Lua: `if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 1
end
return 0`,
}

// unlockMessage is LockPubSub.UNLOCK_MESSAGE.
const unlockMessage = "0"

// ask tries to take the lock. It returns when the lease ends, as counted from before it asked, or ErrTaken and the
// remaining PTTL.
func (x *redisson) ask(ctx context.Context, resource string, ttl time.Duration) (time.Time, time.Duration, error) {
	start := x.clock.Now()
	left, err := remaining(x.script(x.node, redissonLock, []string{resource}, milliseconds(ttl), x.owner(ctx)))
	return start.Add(ttl), left, err
}

// remaining reads the reply of a script that returns nil for a lock that was taken, or its PTTL.
func remaining(reply rediscmd.Reply) (time.Duration, error) {
	if reply.Err != nil || reply.Value == nil {
		return 0, reply.Err
	}
	ms, ok := reply.Value.(int64)
	if !ok {
		return 0, fmt.Errorf("a lock's PTTL of type %T", reply.Value)
	}
	return time.Duration(ms) * time.Millisecond, redlock.ErrTaken
}

// wait asks until the lock is granted or the deadline or ctx comes: at once, when it has subscribed to the channel, after
// every message, and when the PTTL that it was told has passed (its tryLock).
func (x *redisson) wait(ctx context.Context, deadline time.Time, channel string, ask func() (time.Time, time.Duration, error)) (time.Time, error) {
	node := x.nodes[x.node].Node()
	var subscription Subscription
	for attempt := 1; ; attempt++ {
		until, left, err := ask()
		x.env.Step(ctx, Step{Name: "asked", Node: node, Attempt: attempt, Span: left})
		if !errors.Is(err, redlock.ErrTaken) {
			return until, err
		}
		x.env.Attempt(ctx, attempt+1)
		if x.over(ctx, deadline) {
			return until, err
		}
		s := Step{Name: Subscribed, Node: node, Attempt: attempt, Detail: fmt.Sprintf("finds the lock taken for %v more, and subscribes to its releases on %s", left, node)}
		if subscription == nil {
			subscription = x.nodes[x.node].Subscribe(channel)
			defer subscription.Close()
			err = subscription.Confirm(ctx, deadline)
		} else {
			wake := deadline
			if at := x.clock.Now().Add(left); left >= 0 && at.Before(deadline) {
				wake = at
			}
			s.Name, s.Detail = Woken, "hears from "+node+" that the lock was released"
			if _, err = subscription.Next(ctx, wake); errors.Is(err, rediscmd.ErrTimeout) {
				s.Name, s.Detail, err = Waited, "has heard nothing from "+node+" for as long as it was to wait", nil
			}
		}
		if err != nil {
			return until, fmt.Errorf("%w, %w", redlock.ErrTaken, err)
		}
		x.env.Step(ctx, s)
		if x.over(ctx, deadline) {
			return until, redlock.ErrTaken
		}
	}
}

// over says whether there is no time left to wait.
func (x *redisson) over(ctx context.Context, deadline time.Time) bool {
	return ctx.Err() != nil || !x.clock.Now().Before(deadline)
}

// granted starts the watchdog, and returns until when the client believes in the lock.
func (x *redisson) granted(ctx context.Context, resource string, ttl time.Duration, until time.Time) time.Time {
	if !x.watched {
		return until
	}
	id := resource + " " + x.owner(ctx)
	w := x.watchdogs[id]
	if w == nil {
		w = &watchdog{redisson: x, ctx: ctx, id: id, resource: resource, ttl: ttl}
		x.watchdogs[id] = w
		w.schedule()
	}
	w.holds++
	return time.Time{}
}

// watchdog renews a lock every third of its TTL for as long as its thread has not released it as often as it locked it.
type watchdog struct {
	*redisson
	ctx      context.Context // of the first grant
	id       string
	resource string
	ttl      time.Duration
	holds    int
	timer    driver.Timer
	ended    bool
}

func (w *watchdog) schedule() {
	w.timer = w.clock.AfterFunc(w.ttl/3, func() { w.env.Tasks().Start(w.renew) })
}

// renew renews once. Redisson gives up when the lock is lost, and also when a renewal fails, which it logs.
func (w *watchdog) renew() {
	reply := w.script(w.node, redissonRenew, []string{w.resource}, milliseconds(w.ttl), w.owner(w.ctx))
	if w.ended {
		return
	}
	node := w.nodes[w.node].Node()
	s := Step{Name: WatchdogRenewed, Node: node, Span: w.ttl, Late: true, Detail: fmt.Sprintf("has its watchdog renew the lock on %s: %v", node, w.ttl)}
	if err := deleted(reply); err == nil {
		w.schedule()
	} else {
		s.Name, s.Detail = WatchdogStopped, fmt.Sprintf("has a watchdog that gives up on %s, and tells nobody: %s", node, Reason(err))
		w.end()
	}
	w.env.Step(w.ctx, s)
}

func (w *watchdog) end() {
	w.ended = true
	w.timer.Stop()
	delete(w.watchdogs, w.id)
}

// released counts a release, before it is sent.
func (x *redisson) released(ctx context.Context, resource string) {
	if w := x.watchdogs[resource+" "+x.owner(ctx)]; w != nil {
		if w.holds--; w.holds == 0 {
			w.end()
		}
	}
}

// RenewsItself implements SelfRenewing.
func (x *redisson) RenewsItself() bool { return x.watched }

// redissonLease is an RLock that is held. Re-entrant grants have one each.
type redissonLease struct {
	*redisson
	held
	resource string
}

// Holder implements Standing.
func (l *redissonLease) Holder() string { return l.owner(l.ctx) }

// Extend is the watchdog's script, by hand.
func (l *redissonLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := l.clock.Now()
	if err := deleted(l.script(l.node, redissonRenew, []string{l.resource}, milliseconds(ttl), l.owner(l.ctx))); err != nil {
		return err
	}
	l.lengthen(l.env, start.Add(ttl))
	return nil
}

func (l *redissonLease) Unlock(ctx context.Context) error {
	return l.unlock(ctx, l.ctx, l.resource, l.ttl)
}

// lengthen has the client believe for longer, unless its watchdogs have it believe until it releases the lock.
func (h *held) lengthen(env Env, until time.Time) {
	if h.until.IsZero() {
		until = h.until
	}
	h.believe(env, until)
}

// unlock releases what the thread of held has locked.
func (x *redisson) unlock(ctx, held context.Context, resource string, ttl time.Duration) error {
	x.released(held, resource)
	return unlocked(x.script(x.node, redissonUnlock, []string{resource, redissonChannel(resource)}, unlockMessage, milliseconds(ttl), x.owner(held)))
}

// unlocked reads the reply of a script that returns nil for a thread that does not have the lock: Redisson throws
// IllegalMonitorStateException.
func unlocked(reply rediscmd.Reply) error {
	if reply.Err == nil && reply.Value == nil {
		return redlock.ErrLost
	}
	return reply.Err
}
