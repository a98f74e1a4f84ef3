package protocols

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim"
)

// redlockPlain is Redlock as tutorials and some ports have it, on plain commands: SET NX PX on every node, the number of
// those that said yes, the time that it took. Settings say which of their habits it has. The shipped library has none of
// these, and is not used.
type redlockPlain struct {
	session
	quorum int
}

var redlockPlainSteps = []string{redlock.AttemptStarted.String(), redlock.NodeAnswered.String(), redlock.ValidityComputed.String(), CleanedUp, TokenDrawn}

// CleanedUp is the step of redlock-plain at which a client that was not granted the lock has tidied up after itself.
const CleanedUp = "cleaned-up"

// TokenDrawn is the step of redlock-plain at which a client has drawn its fencing token before it asks for the lock.
const TokenDrawn = "token-drawn"

func newRedlockPlain(env Env) (Locker, error) {
	x := &redlockPlain{session: newSession(env), quorum: env.Settings.Quorum}
	if x.quorum == 0 {
		x.quorum = redlock.Majority(len(x.nodes))
	}
	return x, nil
}

func checkRedlockPlain(s Settings, nodes int) error {
	switch {
	case s.Quorum < 0 || s.Quorum > nodes:
		return fmt.Errorf("quorum %d of %d nodes", s.Quorum, nodes)
	case s.Release == GetDel:
		return errors.New("release: redlock-plain has cad and del")
	}
	return checkTTL(s)
}

func (x *redlockPlain) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	number, token := 0, x.draw(ctx, TokenBefore, resource)
	return x.retry(ctx, resource, ttl, func(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
		number++
		return x.attempt(ctx, number, resource, ttl, token)
	})
}

func (x *redlockPlain) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.attempt(ctx, 1, resource, ttl, x.draw(ctx, TokenBefore, resource))
}

// counter is the key that fencing tokens are drawn from.
func counter(resource string) string { return resource + ":token" }

// draw draws a token by INCR on the first node, if the settings have it drawn at this moment; 0 otherwise.
func (x *redlockPlain) draw(ctx context.Context, moment Tokens, resource string) int64 {
	if x.env.Settings.Tokens != moment {
		return 0
	}
	token, _ := x.command(ctx, 0, "INCR", counter(resource)).Value.(int64) // 0, no token, if the node does not answer
	if moment == TokenBefore {
		x.env.Step(ctx, Step{Name: TokenDrawn})
	}
	return token
}

func (x *redlockPlain) attempt(ctx context.Context, number int, resource string, ttl time.Duration, token int64) (Lease, error) {
	x.env.Step(ctx, Step{Name: redlock.AttemptStarted.String(), Attempt: number})
	value, err := x.value()
	if err != nil {
		return nil, err
	}
	start := x.clock.Now()
	votes, reason := 0, redlock.ErrNoQuorum
	x.each(sim.Request{Args: []string{"SET", resource, value, "NX", "PX", fmt.Sprint(ttl.Milliseconds())}}, func(node int, reply sim.Reply) {
		switch err := x.answered(ctx, node, reply, reply.Value != nil); {
		case err == nil:
			votes++
		case errors.Is(err, redlock.ErrTaken):
			reason = err
		}
	})
	if x.env.Settings.Tokens == TokenPerNode {
		x.each(sim.Request{Args: []string{"INCR", counter(resource)}}, func(_ int, reply sim.Reply) {
			n, _ := reply.Value.(int64)
			token = max(token, n)
		})
	}
	d := x.env.Settings.Drift
	validity := redlock.Validity(ttl, x.clock.Now().Sub(start), redlock.Drift{Factor: d.Factor.Ratio(), Constant: d.Constant}.For(ttl))
	x.env.Step(ctx, Step{Name: redlock.ValidityComputed.String(), Span: validity})
	l := &redlockPlainLease{redlockPlain: x, ctx: ctx, resource: resource, value: value, token: token}
	if votes >= x.quorum && validity > 0 {
		l.until = x.clock.Now().Add(validity)
		x.env.Believe(ctx, l.until)
		l.token = max(l.token, x.draw(ctx, TokenOneNode, resource))
		return l, nil
	}
	if votes >= x.quorum {
		reason = redlock.ErrTooLate
	}
	switch x.env.Settings.Cleanup {
	case CleanupCompareAndDelete:
		_, _ = l.release(CompareAndDelete)
		x.env.Step(ctx, Step{Name: CleanedUp, Detail: "deletes its own keys again"})
	case CleanupDel:
		_, _ = l.release(Del)
		x.env.Step(ctx, Step{Name: CleanedUp, Detail: "cleans up: it sends DEL to all nodes, whose key it may be"})
	}
	return nil, reason
}

// each sends a request to every node, and gives each reply to got as it comes: one node after the other, or all at once.
func (x *redlockPlain) each(r sim.Request, got func(node int, reply sim.Reply)) {
	if x.env.Settings.Asking == Sequential {
		for i, node := range x.nodes {
			got(i, node.Do(x.key(), x.clock.Now().Add(x.env.Settings.NodeTimeout), r))
		}
		return
	}
	type answer struct {
		node  int
		reply sim.Reply
	}
	var answers []answer
	tasks := x.env.Process.Tasks()
	waiter := tasks.NewWaiter()
	deadline := x.clock.Now().Add(x.env.Settings.NodeTimeout)
	for i, node := range x.nodes {
		key := x.key()
		tasks.Start(func() {
			answers = append(answers, answer{i, node.Do(key, deadline, r)})
			waiter.Wake()
		})
	}
	for seen := range x.nodes {
		for seen == len(answers) {
			waiter.Wait(context.Background())
		}
		got(answers[seen].node, answers[seen].reply)
	}
}

// redlockPlainLease is a lock that a majority granted.
type redlockPlainLease struct {
	*redlockPlain
	ctx      context.Context
	resource string
	value    string
	token    int64
	until    time.Time
}

func (l *redlockPlainLease) Until() time.Time         { return l.until }
func (l *redlockPlainLease) Context() context.Context { return context.Background() }
func (l *redlockPlainLease) Token() (int64, bool)     { return l.token, l.token != 0 }

// Extend is for a quorum, and validity is computed as at the grant, unless the settings have it otherwise.
func (l *redlockPlainLease) Extend(_ context.Context, ttl time.Duration) error {
	milliseconds := fmt.Sprint(ttl.Milliseconds())
	r := sim.Request{Script: compareAndExpire, Keys: []string{l.resource}, Argv: []string{l.value, milliseconds}}
	quorum := l.quorum
	switch l.env.Settings.Extending {
	case ExtendSet:
		r = sim.Request{Args: []string{"SET", l.resource, l.value, "PX", milliseconds}}
	case ExtendAnyNode:
		quorum = 1
	}
	start := l.clock.Now()
	votes, err := l.count(r)
	if l.env.Settings.Extending == ExtendFromReplies {
		start = l.clock.Now()
	}
	d := l.env.Settings.Drift
	validity := redlock.Validity(ttl, l.clock.Now().Sub(start), redlock.Drift{Factor: d.Factor.Ratio(), Constant: d.Constant}.For(ttl))
	if err := agreed(votes, quorum, err); err != nil {
		return err
	}
	if validity <= 0 {
		return redlock.ErrTooLate
	}
	l.until = l.clock.Now().Add(validity)
	l.env.Believe(l.ctx, l.until)
	return nil
}

func (l *redlockPlainLease) Unlock(context.Context) error {
	votes, err := l.release(l.env.Settings.Release)
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

// release takes the key off all nodes and counts those that had it; err is what a node failed with, if any did.
func (l *redlockPlainLease) release(how Release) (n int, err error) {
	if how == Del {
		return l.count(sim.Request{Args: []string{"DEL", l.resource}})
	}
	return l.count(sim.Request{Script: compareAndDelete, Keys: []string{l.resource}, Argv: []string{l.value}})
}

func (l *redlockPlainLease) count(r sim.Request) (n int, err error) {
	l.each(r, func(_ int, reply sim.Reply) {
		switch {
		case reply.Err != nil:
			err = reply.Err
		case reply.Value == any("OK") || deleted(reply) == nil:
			n++
		}
	})
	return n, err
}

// Cleanup is what a client does about its votes when it was not granted the lock.
type Cleanup uint8

const (
	// CleanupCompareAndDelete deletes the keys that hold the client's value: the rule.
	CleanupCompareAndDelete Cleanup = iota
	// CleanupDel deletes the key on all nodes, whoever's it is.
	CleanupDel
	// NoCleanup leaves its votes to expire.
	NoCleanup
)

// UnmarshalScalar reads what a client does about its votes.
func (c *Cleanup) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "clean-up", c, []strictyaml.Choice[Cleanup]{
		{Word: "cad", Value: CleanupCompareAndDelete}, {Word: "del", Value: CleanupDel}, {Word: "none", Value: NoCleanup}})
}

// Asking is the order in which nodes are asked.
type Asking uint8

const (
	// Parallel asks all nodes at once: the rule.
	Parallel Asking = iota
	// Sequential asks one node after the other, and waits for each.
	Sequential
)

// UnmarshalScalar reads the order in which nodes are asked.
func (a *Asking) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "order", a, []strictyaml.Choice[Asking]{{Word: "parallel", Value: Parallel}, {Word: "sequential", Value: Sequential}})
}

// Extending is how a lock is extended.
type Extending uint8

const (
	// ExtendQuorum extends the keys that hold the client's value and asks for a quorum of them: the rule.
	ExtendQuorum Extending = iota
	// ExtendAnyNode takes the extension for good when a single node has extended.
	ExtendAnyNode
	// ExtendFromReplies counts the new validity from the replies, however long they took.
	ExtendFromReplies
	// ExtendSet sets the key again, also where it is gone or another's.
	ExtendSet
)

// UnmarshalScalar reads how a lock is extended.
func (e *Extending) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "way to extend", e, []strictyaml.Choice[Extending]{{Word: "quorum", Value: ExtendQuorum},
		{Word: "any-node", Value: ExtendAnyNode}, {Word: "from-replies", Value: ExtendFromReplies}, {Word: "set", Value: ExtendSet}})
}

// Tokens is where redlock-plain has its fencing tokens from: from counters on the nodes, in ways that do not work.
type Tokens uint8

const (
	// NoTokens: there are none.
	NoTokens Tokens = iota
	// TokenBefore draws from a counter on the first node before the lock is won.
	TokenBefore
	// TokenOneNode draws from a counter on the first node once the lock is won.
	TokenOneNode
	// TokenPerNode raises a counter on each node at every attempt and takes the highest answer.
	TokenPerNode
)

// UnmarshalScalar reads where tokens are from.
func (k *Tokens) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "source of tokens", k, []strictyaml.Choice[Tokens]{{Word: "none", Value: NoTokens},
		{Word: "before", Value: TokenBefore}, {Word: "one-node", Value: TokenOneNode}, {Word: "per-node", Value: TokenPerNode}})
}
