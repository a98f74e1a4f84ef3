package protocols

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
)

// single is a lock on one Redis instance, the first node: one of several ways to take it, and one of three to release it.
type single struct {
	session
	release Release
	// take sets the key and says until when, by the client's lock clock, it is there at least.
	take func(ctx context.Context, resource, value string, ttl time.Duration) (until time.Time, err error)
}

// Compared is the step at which a client that releases by GET and DEL has seen its own value, and not deleted it yet.
const Compared = "compared"

// singleSteps are the steps of all locks on one instance.
func singleSteps() []string {
	return []string{observe.AttemptStarted.String(), observe.NodeAnswered.String(), observe.ValidityComputed.String(), Compared}
}

var singleProtocol = Protocol{Name: "single", New: newSingle, own: defaultSingle(), Steps: singleSteps(),
	Sentences: []string{Compared}, Capabilities: Capabilities{KeysOnly: true}}

// newSingle makes the lock that is right for one instance: SET key value NX PX ttl.
func newSingle(env Env) (Locker, error) {
	x := newInstance(env)
	x.take = x.set
	return x, nil
}

func newInstance(env Env) *single {
	return &single{session: newSession(env), release: Of[ReleaseSettings](env.Settings).Release}
}

// SingleSettings are those of a lock on one instance.
type SingleSettings struct {
	RetrySettings   `yaml:",inline"`
	ReleaseSettings `yaml:",inline"`
}

func defaultSingle() SingleSettings { return SingleSettings{RetrySettings: defaultRetry()} }

// Check implements Own.
func (own SingleSettings) Check(s Settings, _ int) error {
	return cmp.Or(own.RetrySettings.check(), s.checkTTL())
}

func (own SingleSettings) faster(by time.Duration) Own {
	own.RetrySettings = own.RetrySettings.shortened(by)
	return own
}

// ReleaseSettings are those of protocols that release with plain commands.
type ReleaseSettings struct {
	// Release is how a client releases: cad (compare and delete in a script), del (whoever holds the key) or get-del (read,
	// compare, then delete with a second command, which redlock-plain cannot). Default: cad. Example: del
	Release Release `yaml:"release"`
}

// Release is a way to release a lock on a single instance.
type Release uint8

const (
	// CompareAndDelete deletes the key if it holds the client's value, in a script.
	CompareAndDelete Release = iota
	// Del deletes the key, whoever's it is.
	Del
	// GetDel reads the value, compares it, and deletes the key in a second command.
	GetDel
)

var _ = strictyaml.Enum[Release]("release").Word("cad", CompareAndDelete).Word("del", Del).Word("get-del", GetDel)

// checkTTL is what every protocol with a time to live in Redis asks of it.
func (s Settings) checkTTL() error { return wholePositive("ttl", s.TTL) }

func (x *single) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	number := 0
	return x.retry(ctx, resource, ttl, func(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
		number++
		return x.attempt(ctx, number, resource, ttl)
	})
}

func (x *single) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.attempt(ctx, 1, resource, ttl)
}

func (x *single) attempt(ctx context.Context, number int, resource string, ttl time.Duration) (Lease, error) {
	x.env.Step(ctx, Step{Name: observe.AttemptStarted.String(), Attempt: number})
	value, err := x.value()
	if err != nil {
		return nil, err
	}
	until, err := x.take(ctx, resource, value, ttl)
	if err != nil {
		return nil, err
	}
	x.env.Step(ctx, Step{Name: observe.ValidityComputed.String(), Span: until.Sub(x.clock.Now())})
	l := &singleLease{single: x, ctx: ctx, resource: resource, value: value, until: until}
	x.env.Believe(ctx, l.until)
	return l, nil
}

// set counts validity from before it asks: Redis begins to count later.
func (x *single) set(ctx context.Context, resource, value string, ttl time.Duration) (time.Time, error) {
	start := x.clock.Now()
	reply := x.command(ctx, 0, "SET", resource, value, "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
	return start.Add(ttl), x.answered(ctx, 0, reply, reply.Value == any("OK"))
}

// singleLease is a lock on one instance.
type singleLease struct {
	*single
	ctx      context.Context
	resource string
	value    string
	until    time.Time
}

func (l *singleLease) Until() time.Time         { return l.until }
func (l *singleLease) Context() context.Context { return context.Background() }
func (l *singleLease) Token() (int64, bool)     { return 0, false }

// Value and Quorum implement Voted.
func (l *singleLease) Value() string { return l.value }
func (l *singleLease) Quorum() int   { return 1 }

// compareAndDelete deletes the key if it holds the value.
var compareAndDelete = &rediscmd.Script{
	Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
}

// compareAndExpire sets the TTL if the key holds the value.
var compareAndExpire = &rediscmd.Script{
	Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
}

func (l *singleLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := l.clock.Now()
	reply := l.script(ctx, 0, compareAndExpire, []string{l.resource}, l.value, fmt.Sprint(ttl.Milliseconds()))
	if err := deleted(reply); err != nil {
		return err
	}
	l.until = start.Add(ttl)
	l.env.Believe(l.ctx, l.until)
	return nil
}

func (l *singleLease) Unlock(ctx context.Context) error {
	switch l.release {
	case Del:
		return deleted(l.command(ctx, 0, "DEL", l.resource))
	case GetDel:
		reply := l.command(ctx, 0, "GET", l.resource)
		if reply.Err != nil {
			return reply.Err
		}
		if reply.Value != any(l.value) {
			return redlock.ErrLost
		}
		l.env.Step(ctx, Step{Name: Compared, Detail: "has read its own value, and is about to delete the key"})
		return deleted(l.command(ctx, 0, "DEL", l.resource))
	}
	return deleted(l.script(ctx, 0, compareAndDelete, []string{l.resource}, l.value))
}

// deleted reads the reply of a command or script that answers 1 if the key was there and ours.
func deleted(reply rediscmd.Reply) error {
	switch {
	case reply.Err != nil:
		return reply.Err
	case reply.Value != any(int64(1)):
		return redlock.ErrLost
	}
	return nil
}
