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
// and is not used.
type redlockPlain struct {
	session
	own     RedlockPlainSettings
	quorum  int
	answers map[string]bool // by the name of a node, whether it has answered what it was asked last

	connecting, connected bool
	awaiting              []driver.Waiter // calls that wait until it is connected
}

var redlockPlainProtocol = Protocol{Name: "redlock-plain", New: newRedlockPlain, Steps: redlockPlainSteps,
	Sentences: []string{Connected, CleanedUp}, Capabilities: Capabilities{KeysOnly: true, AllAtOnce: true},
	own: RedlockPlainSettings{DriftSettings: defaultDrift(), RetrySettings: defaultRetry(), Reconnects: 5}}

var redlockPlainSteps = []string{observe.AttemptStarted.String(), observe.NodeAnswered.String(), observe.ValidityComputed.String(), Connected, CleanedUp, TokenDrawn}

// Connected is the step of redlock-plain at which a client has tried to connect to the nodes.
const Connected = "connected"

// CleanedUp is the step of redlock-plain at which a client that was not granted the lock has tidied up after itself.
const CleanedUp = "cleaned-up"

// TokenDrawn is the step of redlock-plain at which a client has drawn its fencing token before it asks for the lock.
const TokenDrawn = "token-drawn"

func newRedlockPlain(env Env) (Locker, error) {
	x := &redlockPlain{session: newSession(env), own: Of[RedlockPlainSettings](env.Settings), answers: map[string]bool{}}
	x.count()
	return x, nil
}

// count counts how many nodes must agree.
func (x *redlockPlain) count() { x.quorum = x.own.quorum(len(x.nodes)) }

func (x *redlockPlain) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	c, err := x.call(ctx, resource)
	if err != nil {
		return nil, err
	}
	l, err := x.retry(ctx, resource, ttl, c.attempt)
	return c.over(ctx, l, err)
}

func (x *redlockPlain) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	c, err := x.call(ctx, resource)
	if err != nil {
		return nil, err
	}
	l, err := c.attempt(ctx, resource, ttl)
	return c.over(ctx, l, err)
}

// plainCall is a call of Lock or TryLock.
type plainCall struct {
	*redlockPlain
	resource string
	number   int    // of the attempt
	value    string // of all attempts, where they share one
	token    int64  // where it is drawn before
}

func (x *redlockPlain) call(ctx context.Context, resource string) (c *plainCall, err error) {
	if err := x.connect(ctx); err != nil {
		return nil, err
	}
	c = &plainCall{redlockPlain: x, resource: resource, token: x.draw(ctx, TokenBefore, resource)}
	switch x.own.Value {
	case PerCall:
		c.value, err = x.value()
	case PerClient:
		c.value = x.env.Name()
	}
	return c, err
}

// over cleans up after a call that failed, where that is left until then.
func (c *plainCall) over(ctx context.Context, l Lease, err error) (Lease, error) {
	if err != nil && c.own.Cleanup == CleanupAtEnd {
		l := &redlockPlainLease{redlockPlain: c.redlockPlain, ctx: ctx, resource: c.resource, value: c.value}
		l.tidy(CompareAndDelete, c.all())
		c.env.Step(ctx, Step{Name: CleanedUp, Detail: "gives up, and only now deletes its own keys again"})
	}
	return l, err
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
	for i, node := range x.nodes {
		// Connecting is not modelled; a request and its reply take the time of it.
		if x.commandWithin(ctx, x.own.ConnectTimeout, i, "PING").Err == nil {
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
	token, _ := x.command(ctx, 0, "INCR", counter(resource)).Value.(int64) // 0, no token, if the node does not answer
	if moment == TokenBefore {
		x.env.Step(ctx, Step{Name: TokenDrawn})
	}
	return token
}

func (c *plainCall) attempt(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	c.number++
	c.env.Step(ctx, Step{Name: observe.AttemptStarted.String(), Attempt: c.number})
	l := &redlockPlainLease{redlockPlain: c.redlockPlain, ctx: ctx, resource: resource, value: c.value, token: c.token, ttl: ttl}
	if c.own.Value == PerAttempt {
		var err error
		if l.value, err = c.redlockPlain.value(); err != nil {
			return nil, err
		}
	}
	start := c.clock.Now()
	voters, reason, failed := c.vote(ctx, l, ttl)
	if failed != nil && c.own.FailedNode == EndsCall {
		return nil, &callEnded{failed}
	}
	if c.own.Tokens == TokenPerNode {
		c.each(c.all(), c.once(rediscmd.Request{Args: []string{"INCR", counter(resource)}}), func(_ int, reply rediscmd.Reply) bool {
			n, _ := reply.Value.(int64)
			l.token = max(l.token, n)
			return true
		})
	}
	validity, until, enough := c.validity(ttl, start)
	c.env.Step(ctx, Step{Name: observe.ValidityComputed.String(), Span: validity})
	switch {
	case len(voters) < c.quorum:
	case !enough:
		reason = redlock.ErrTooLate
	case failed != nil && c.own.FailedNode == FailsGrant:
		return nil, &callEnded{failed}
	default:
		l.believe(ctx, until)
		l.token = max(l.token, c.draw(ctx, TokenOneNode, resource))
		return l, nil
	}
	l.cleanUp(ctx, voters)
	return nil, reason
}

// vote asks the nodes for their votes. reason is why there is no quorum, if there is none, and failed what a node failed with.
func (c *plainCall) vote(ctx context.Context, l *redlockPlainLease, ttl time.Duration) (voters []int, reason, failed error) {
	reason = redlock.ErrNoQuorum
	refusals := 0
	set := rediscmd.Request{Args: []string{"SET", l.resource, l.value, "NX", "PX", fmt.Sprint(ttl.Milliseconds())}}
	c.each(c.all(), c.once(set), func(node int, reply rediscmd.Reply) bool {
		switch err := c.answered(ctx, node, reply, reply.Value == any("OK")); {
		case err == nil:
			voters = append(voters, node)
		case errors.Is(err, redlock.ErrTaken):
			reason = err
			refusals++
		default:
			failed = err
			refusals++
		}
		return !c.decided(len(voters), refusals) && (failed == nil || c.own.FailedNode != EndsCall)
	})
	return voters, reason, failed
}

// cleanUp deletes what an attempt that was not granted may have left, as the settings have it.
func (l *redlockPlainLease) cleanUp(ctx context.Context, voters []int) {
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
	reply := x.nodes[node].Do(x.clock.Now().Add(patience), r) // others may be answered meanwhile
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

// redlockPlainLease is a lock that a majority granted.
type redlockPlainLease struct {
	*redlockPlain
	ctx      context.Context
	resource string
	value    string
	token    int64
	ttl      time.Duration // that it was asked for with
	until    time.Time
}

// Value and Quorum implement Voted.
func (l *redlockPlainLease) Value() string { return l.value }
func (l *redlockPlainLease) Quorum() int   { return l.own.quorum(len(l.env.Redis())) }

func (l *redlockPlainLease) Until() time.Time         { return l.until }
func (l *redlockPlainLease) Context() context.Context { return context.Background() }
func (l *redlockPlainLease) Token() (int64, bool)     { return l.token, l.token != 0 }

// extendOrCreate sets the key if it holds the value or is gone.
var extendOrCreate = &rediscmd.Script{
	Lua: `local held = redis.call('GET', KEYS[1])
if not held or held == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0`,
}

// Extend is for a quorum, and validity is computed as at the grant, unless the settings have it otherwise.
func (l *redlockPlainLease) Extend(_ context.Context, ttl time.Duration) error {
	if l.own.FixedTTL {
		ttl = l.ttl
	}
	milliseconds := fmt.Sprint(ttl.Milliseconds())
	r := rediscmd.Request{Script: compareAndExpire, Keys: []string{l.resource}, Argv: []string{l.value, milliseconds}}
	quorum := l.quorum
	switch l.own.Extending {
	case ExtendSet:
		r = rediscmd.Request{Args: []string{"SET", l.resource, l.value, "PX", milliseconds}}
	case ExtendReCreate:
		r.Script = extendOrCreate
	case ExtendAnyNode:
		quorum = 1
	}
	start := l.clock.Now()
	votes, err := l.tally(l.all(), l.again(r), GoOn)
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
	l.believe(l.ctx, until)
	return nil
}

// believe has the client believe in its lock until a moment by its lock clock.
func (l *redlockPlainLease) believe(ctx context.Context, until time.Time) {
	l.until = until
	l.env.Believe(ctx, l.until)
}

func (l *redlockPlainLease) Unlock(context.Context) error {
	votes, err := l.tally(l.all(), l.again(l.release(l.own.Release)), l.own.FailedRelease)
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

// release is the request to take the key off a node.
func (l *redlockPlainLease) release(how Release) rediscmd.Request {
	if how == Del {
		return rediscmd.Request{Args: []string{"DEL", l.resource}}
	}
	return rediscmd.Request{Script: compareAndDelete, Keys: []string{l.resource}, Argv: []string{l.value}}
}

// tidy takes what an attempt that was not granted may have left off nodes.
func (l *redlockPlainLease) tidy(how Release, nodes []int) {
	_, _ = l.tally(nodes, l.once(l.release(how)), l.own.FailedRelease)
}

// tally asks nodes and counts those that did what they were asked for; err is what a node failed with, if any did.
func (l *redlockPlainLease) tally(nodes []int, asks ask, failed FailedRelease) (n int, err error) {
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
