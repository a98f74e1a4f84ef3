package protocols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// redlockPlain is Redlock as tutorials and ports have it, on plain commands: SET NX PX on every node, the number of those
// that said yes, the time that it took. Settings say which of their habits it has. The shipped library has none of these,
// and is not used. The locks on a single instance, and on nodes that give out permits, are this one with another vote.
type redlockPlain struct {
	session
	own     RedlockPlainSettings
	quorum  int
	answers map[string]bool // by the name of a node, whether it has answered what it was asked last

	// take asks for the lock, from start on. reason is why it was not granted, nil if it was; failed is what a node failed
	// with.
	take func(ctx context.Context, l *plainLease) (start time.Time, voters []int, reason, failed error)
	// grants makes the lease that is handed out.
	grants func(*plainLease) Lease
	// isAlone says that the lock is on a single instance, whose answer is what the call returns.
	isAlone bool

	connecting, connected bool
	awaiting              []driver.Waiter // calls that wait until it is connected
}

var redlockPlainProtocol = Protocol{Name: "redlock-plain", New: newRedlockPlain,
	Steps:     []string{observe.AttemptStarted.String(), observe.NodeAnswered.String(), observe.ValidityComputed.String(), Connected, CleanedUp, TokenDrawn},
	Sentences: []string{Connected, CleanedUp}, Capabilities: Capabilities{KeysOnly: true, AllAtOnce: true},
	own: RedlockPlainSettings{DriftSettings: defaultDrift(), RetrySettings: defaultRetry(), Reconnects: 5}}

const (
	// Connected is the step of redlock-plain at which a client has tried to connect to the nodes.
	Connected = "connected"
	// CleanedUp is the step at which a client that was not granted the lock has tidied up after itself.
	CleanedUp = "cleaned-up"
	// TokenDrawn is the step at which a client has drawn its fencing token before it asks for the lock.
	TokenDrawn = "token-drawn"
)

func newRedlockPlain(env Env) (Locker, error) {
	return newPlain(env, env.Redis(), Of[RedlockPlainSettings](env.Settings)), nil
}

func newPlain(env Env, nodes []Redis, own RedlockPlainSettings) *redlockPlain {
	x := &redlockPlain{session: newSession(env), own: own, answers: map[string]bool{}}
	x.nodes = nodes
	x.take, x.grants = x.vote, func(l *plainLease) Lease { return &votedLease{l} }
	x.count()
	return x
}

// count counts how many nodes must agree.
func (x *redlockPlain) count() { x.quorum = x.own.quorum(len(x.nodes)) }

func (x *redlockPlain) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.call(ctx, []string{resource}, ttl, true)
}

func (x *redlockPlain) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.call(ctx, []string{resource}, ttl, false)
}

// plainCall is a call of Lock or TryLock.
type plainCall struct {
	*redlockPlain
	keys   []string // any of which is the lock
	number int      // of the attempt
	value  string   // of all attempts, where they share one
	token  int64    // where it is drawn before
}

func (x *redlockPlain) call(ctx context.Context, keys []string, ttl time.Duration, waits bool) (l Lease, err error) {
	if err := x.connect(ctx); err != nil {
		return nil, err
	}
	c := &plainCall{redlockPlain: x, keys: keys, token: x.draw(ctx, TokenBefore, keys[0])}
	switch x.own.Value {
	case PerCall:
		c.value, err = x.value()
	case PerClient:
		c.value = x.env.Name()
	}
	if err != nil {
		return nil, err
	}
	attempt := func() (Lease, error) { return c.attempt(ctx, ttl) }
	if waits {
		l, err = x.retry(ctx, attempt)
	} else {
		l, err = attempt()
	}
	if err != nil && c.own.Cleanup == CleanupAtEnd {
		l := &plainLease{redlockPlain: x, held: held{ctx: ctx}, keys: keys, value: c.value}
		l.tidy(CompareAndDelete, x.all())
		x.env.Step(ctx, Step{Name: CleanedUp, Detail: "gives up, and only now deletes its own keys again"})
	}
	return l, err
}

// value draws a value from what the settings say.
func (x *redlockPlain) value() (string, error) {
	switch now := x.env.Wall().UnixMicro(); x.own.ValueFrom {
	case Time:
		return fmt.Sprint(now), nil
	case ClientTime:
		return fmt.Sprintf("%s %d", x.env.Name(), now), nil
	}
	return x.session.value()
}

// connect tries to connect to the nodes, once, and leaves out those that it cannot connect to. Calls that come meanwhile wait
// for that, or until their contexts end.
func (x *redlockPlain) connect(ctx context.Context) error {
	switch {
	case x.connected || x.own.ConnectTimeout == 0:
		return nil
	case x.connecting:
		waiter := x.env.Tasks().NewWaiter()
		x.awaiting = append(x.awaiting, waiter)
		for !x.connected {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			waiter.Wait(ctx)
		}
		return nil
	}
	x.connecting = true
	var reached []Redis
	var names []string
	for _, node := range x.nodes {
		// Connecting is not modelled; a request and its reply take the time of it.
		if x.do(node, x.own.ConnectTimeout, rediscmd.Request{Args: []string{"PING"}}).Err == nil {
			reached, names = append(reached, node), append(names, node.Node())
		}
	}
	x.nodes, x.connected = reached, true
	x.count()
	for _, waiter := range x.awaiting {
		waiter.Wake()
	}
	x.env.Step(ctx, Step{Name: Connected, Detail: fmt.Sprintf("connects to %s, and takes %d for a quorum", strings.Join(names, ", "), x.quorum)})
	return nil
}

// decided says that there is no need to hear more nodes.
func (x *redlockPlain) decided(yes, no int) bool {
	return x.own.Asking == UntilDecided && (yes >= x.quorum || no >= x.quorum)
}

// elapsed is how long something took, by a clock that is read in the unit of the settings.
func (x *redlockPlain) elapsed(start, now time.Time) time.Duration {
	unit := x.own.Resolution
	if unit == 0 {
		return now.Sub(start) // Truncate leaves nothing of a monotonic reading
	}
	return now.Truncate(unit).Sub(start.Truncate(unit))
}

// validity is how much is left of a lease that began at start, until when that is, and whether it is enough.
func (x *redlockPlain) validity(ttl time.Duration, start time.Time) (left time.Duration, until time.Time, enough bool) {
	now := x.clock.Now()
	left = ttl - x.elapsed(start, now) - x.own.Drift.For(ttl)
	return left, now.Add(left), left > 0 || x.own.Validity == Unchecked
}

// draw draws a token by INCR on the first node, if the settings have it drawn at this moment; 0 otherwise.
func (x *redlockPlain) draw(ctx context.Context, moment Tokens, resource string) int64 {
	if x.own.Tokens != moment {
		return 0
	}
	token, _ := x.command(0, "INCR", counter(resource)).Value.(int64) // 0, no token, if the node does not answer
	if moment == TokenBefore {
		x.env.Step(ctx, Step{Name: TokenDrawn})
	}
	return token
}

func (c *plainCall) attempt(ctx context.Context, ttl time.Duration) (Lease, error) {
	c.number++
	c.env.Step(ctx, Step{Name: observe.AttemptStarted.String(), Attempt: c.number})
	l := &plainLease{redlockPlain: c.redlockPlain, held: held{ctx: ctx, ttl: ttl}, keys: c.keys, value: c.value, token: c.token}
	if c.own.Value == PerAttempt {
		var err error
		if l.value, err = c.redlockPlain.value(); err != nil {
			return nil, err
		}
	}
	start, voters, reason, failed := c.take(ctx, l)
	switch {
	case failed != nil && c.own.FailedNode == EndsCall:
		return nil, &callEnded{failed}
	case c.isAlone && reason != nil:
		return nil, reason
	case c.own.Tokens == TokenPerNode:
		c.each(c.all(), c.once(rediscmd.Request{Args: []string{"INCR", counter(c.keys[0])}}), func(_ int, reply rediscmd.Reply) bool {
			n, _ := reply.Value.(int64)
			l.token = max(l.token, n)
			return true
		})
	}
	validity, until, enough := c.validity(ttl, start)
	c.env.Step(ctx, Step{Name: observe.ValidityComputed.String(), Span: validity})
	switch {
	case reason != nil:
	case !enough:
		reason = redlock.ErrTooLate
	case failed != nil && c.own.FailedNode == FailsGrant:
		return nil, &callEnded{failed}
	default:
		l.believe(c.env, until)
		l.token = max(l.token, c.draw(ctx, TokenOneNode, c.keys[0]))
		return c.grants(l), nil
	}
	l.cleanUp(ctx, voters)
	return nil, reason
}

// vote asks the nodes for their votes, and is the rule for take.
func (x *redlockPlain) vote(ctx context.Context, l *plainLease) (start time.Time, voters []int, reason, failed error) {
	start = x.clock.Now()
	reason = redlock.ErrNoQuorum
	refusals := 0
	x.each(x.all(), x.once(l.request()), func(node int, reply rediscmd.Reply) bool {
		number, _ := reply.Value.(int64) // of the permit, if there are several
		switch err := x.answered(ctx, node, reply, number > 0 || reply.Value == any("OK")); {
		case err == nil:
			voters = append(voters, node)
		case errors.Is(err, redlock.ErrTaken):
			reason = err
			refusals++
		default:
			failed = err
			refusals++
		}
		return !x.decided(len(voters), refusals) && (failed == nil || x.own.FailedNode != EndsCall)
	})
	switch {
	case len(voters) >= x.quorum:
		reason = nil
	case x.isAlone && failed != nil:
		reason = failed
	}
	return start, voters, reason, failed
}

// takeOne sets the first key that is free, and deleteAll deletes those that hold a value.
var (
	takeOne = &rediscmd.Script{
		Lua: `for i, key in ipairs(KEYS) do
  if redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) then return i end
end
return 0`,
	}
	deleteAll = &rediscmd.Script{
		Lua: `local n = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then n = n + redis.call('DEL', key) end
end
return n`,
	}
)

// request asks a node for its vote: a script is needed where it has one of several keys to give.
func (l *plainLease) request() rediscmd.Request {
	if len(l.keys) > 1 {
		return rediscmd.Request{Script: takeOne, Keys: l.keys, Argv: []string{l.value, milliseconds(l.ttl)}}
	}
	return rediscmd.Request{Args: []string{"SET", l.keys[0], l.value, "NX", "PX", milliseconds(l.ttl)}}
}

// cleanUp deletes what an attempt that was not granted may have left, as the settings have it.
func (l *plainLease) cleanUp(ctx context.Context, voters []int) {
	switch l.own.Cleanup {
	case CleanupCompareAndDelete:
		l.tidy(CompareAndDelete, l.all())
		l.env.Step(ctx, Step{Name: CleanedUp, Detail: "deletes its own keys again"})
	case CleanupVoters:
		if len(voters) == 0 {
			break
		}
		l.tidy(CompareAndDelete, voters)
		l.env.Step(ctx, Step{Name: CleanedUp, Detail: "deletes its own keys again, on the nodes that it heard a yes from"})
	case CleanupDel:
		l.tidy(Del, l.all())
		l.env.Step(ctx, Step{Name: CleanedUp, Detail: "cleans up: it sends DEL to all nodes, whose key it may be"})
	}
}

// once sends a request as part of an acquire.
func (x *redlockPlain) once(r rediscmd.Request) ask {
	return func(node int) rediscmd.Reply {
		patience := x.env.Settings.NodeTimeout
		if x.answers[x.nodes[node].Node()] {
			patience = cmp.Or(x.own.ConnectedTimeout, patience)
		}
		return x.send(node, r, patience)
	}
}

// again sends a request that is about a lease, and sends it again where the settings say so.
func (x *redlockPlain) again(r rediscmd.Request) ask {
	patience := cmp.Or(x.own.ConnectedTimeout, x.env.Settings.NodeTimeout)
	return func(node int) rediscmd.Reply {
		reply := x.send(node, r, patience)
		for n := 0; n < x.own.Resends && errors.Is(reply.Err, rediscmd.ErrTimeout); n++ {
			if reply = x.reconnect(node, cmp.Or(x.own.ReconnectTimeout, patience)); reply.Err == nil {
				reply = x.send(node, r, patience)
			}
		}
		return reply
	}
}

// reconnect connects anew to a node that has not answered. As in connect, a request stands for that.
func (x *redlockPlain) reconnect(node int, patience time.Duration) (reply rediscmd.Reply) {
	for range x.own.Reconnects {
		if reply = x.send(node, rediscmd.Request{Args: []string{"PING"}}, patience); !errors.Is(reply.Err, rediscmd.ErrTimeout) {
			break
		}
	}
	return reply
}

func (x *redlockPlain) send(node int, r rediscmd.Request, patience time.Duration) rediscmd.Reply {
	reply := x.do(x.nodes[node], patience, r) // others may be answered meanwhile
	x.answers[x.nodes[node].Node()] = !errors.Is(reply.Err, rediscmd.ErrTimeout) && !errors.Is(reply.Err, rediscmd.ErrReset)
	return reply
}

// each asks nodes, and gives each reply to got as it comes: one node after the other, or all at once. It stops when got has
// heard enough.
func (x *redlockPlain) each(nodes []int, asks ask, got func(node int, reply rediscmd.Reply) (goOn bool)) {
	if x.own.Asking == Sequential {
		for _, i := range nodes {
			if !got(i, asks(i)) {
				return
			}
		}
		return
	}
	x.atOnce(nodes, asks, got)
}

// plainLease is a lock that a quorum granted.
type plainLease struct {
	*redlockPlain
	held
	keys  []string
	value string
	token int64
}

func (l *plainLease) Token() (int64, bool) { return l.token, l.token != 0 }

// votedLease is one whose key is the resource.
type votedLease struct{ *plainLease }

// Value and Quorum implement Voted.
func (l *votedLease) Value() string { return l.value }
func (l *votedLease) Quorum() int   { return l.own.quorum(len(l.env.Redis())) }

// The scripts of locks whose key holds a value.
var (
	compareAndDelete = &rediscmd.Script{
		Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
	}
	compareAndExpire = &rediscmd.Script{
		Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
	}
	// extendOrCreate sets the key if it holds the value or is gone.
	extendOrCreate = &rediscmd.Script{
		Lua: `local held = redis.call('GET', KEYS[1])
if not held or held == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0`,
	}
)

// Extend is for a quorum, and validity is computed as at the grant, unless the settings have it otherwise.
func (l *plainLease) Extend(_ context.Context, ttl time.Duration) error {
	if l.own.FixedTTL {
		ttl = l.ttl
	}
	r := rediscmd.Request{Script: compareAndExpire, Keys: l.keys, Argv: []string{l.value, milliseconds(ttl)}}
	quorum, send := l.quorum, l.again
	switch l.own.Extending {
	case ExtendSet, ExtendGetSet:
		r = rediscmd.Request{Args: []string{"SET", l.keys[0], l.value, "PX", milliseconds(ttl)}}
		if l.own.Extending == ExtendGetSet {
			send = func(set rediscmd.Request) ask { return l.compared(l.again, l.again(set), func() {}) }
		}
	case ExtendReCreate:
		r.Script = extendOrCreate
	case ExtendAnyNode:
		quorum = 1
	}
	start := l.clock.Now()
	votes, err := l.tally(l.all(), send(r), GoOn)
	if l.own.Extending == ExtendFromReplies {
		start = l.clock.Now()
	}
	_, until, enough := l.validity(ttl, start)
	if err := agreed(votes, quorum, err); err != nil {
		return err
	}
	if !enough {
		return redlock.ErrTooLate
	}
	l.believe(l.env, until)
	return nil
}

func (l *plainLease) Unlock(ctx context.Context) error {
	votes, err := l.tally(l.all(), l.release(ctx, l.own.Release, l.again), l.own.FailedRelease)
	return agreed(votes, l.quorum, err)
}

// agreed says whether a quorum did what it was asked. Nodes that did not answer leave it open.
func agreed(votes, quorum int, err error) error {
	switch {
	case votes >= quorum:
		return nil
	case err != nil:
		return err
	}
	return redlock.ErrLost
}

// Compared is the step at which a client that releases by GET and DEL has seen its own value, and not deleted it yet.
const Compared = "compared"

// release takes the key off a node, by requests that are sent in some way.
func (l *plainLease) release(ctx context.Context, how Release, send func(rediscmd.Request) ask) ask {
	del := send(rediscmd.Request{Args: []string{"DEL", l.keys[0]}})
	switch {
	case how == Del:
		return del
	case how == GetDel:
		return l.compared(send, del, func() {
			l.env.Step(ctx, Step{Name: Compared, Detail: "has read its own value, and is about to delete the key"})
		})
	}
	r := rediscmd.Request{Script: compareAndDelete, Keys: l.keys, Argv: []string{l.value}}
	if len(l.keys) > 1 {
		r.Script = deleteAll
	}
	return send(r)
}

// compared asks a node if the key has the client's value, by a command of its own that is sent in some way, and tells when it
// has.
func (l *plainLease) compared(send func(rediscmd.Request) ask, then ask, tell func()) ask {
	get := send(rediscmd.Request{Args: []string{"GET", l.keys[0]}})
	return func(node int) rediscmd.Reply {
		reply := get(node)
		switch {
		case reply.Err != nil:
			return reply
		case reply.Value != any(l.value):
			return rediscmd.Reply{Value: int64(0)}
		}
		tell()
		return then(node)
	}
}

// tidy takes what an attempt that was not granted may have left off nodes.
func (l *plainLease) tidy(how Release, nodes []int) {
	_, _ = l.tally(nodes, l.release(l.ctx, how, l.once), l.own.FailedRelease)
}

// tally asks nodes and counts those that did what they were asked for; err is what a node failed with, if any did.
func (l *plainLease) tally(nodes []int, asks ask, failed FailedRelease) (n int, err error) {
	refusals := 0
	l.each(nodes, asks, func(_ int, reply rediscmd.Reply) bool {
		switch {
		case reply.Err != nil:
			err = reply.Err
			refusals++
		case reply.Value == any("OK") || deleted(reply) == nil:
			n++
		default:
			refusals++
		}
		return !l.decided(n, refusals) && (err == nil || failed != Stop)
	})
	return n, err
}
