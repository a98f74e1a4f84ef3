// Package goredis lets package redlock talk to its servers through go-redis (github.com/redis/go-redis/v9).
//
// [Open] is the short way, from addresses or redis:// URLs to nodes:
//
//	nodes, err := goredis.Open("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379")
//	if err != nil {
//		return err
//	}
//	defer nodes.Close()
//
// For options of your own (TLS, credentials, hooks), make each client with [NewClient] and wrap it with [NewNode]. Do not share
// clients with a cache: with go-redis' defaults, a command with a deadline of 50 ms can take 5 s and be sent four times.
// NewNode rejects such clients and says what to set.
//
// While a server is down, go-redis logs each failed dial to standard error, hundreds a minute. redis.SetLogger replaces that
// log for the whole program, so this package leaves it alone. Package redlockslog logs what matters to locks.
package goredis

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Node is one server behind a go-redis client, for redlock.New. Make one with [NewNode].
type Node struct {
	client *redis.Client
	name   string
	clock  driver.Clock
	tasks  driver.Tasks
	known  batch.Known

	subscription subscription
}

var (
	_ driver.Listener   = (*Node)(nil)
	_ driver.Replicated = (*Node)(nil)
)

// Option is a setting of a Node.
type Option func(*Node)

// Name names the node in errors and events. The default is the client's address.
func Name(name string) Option { return func(n *Node) { n.name = name } }

// Runtime gives the node the clock and the goroutines of its redlock client; see redlock.WithRuntime.
func Runtime(r driver.Runtime) Option {
	return func(n *Node) {
		r = r.Filled()
		n.clock, n.tasks = r.Clock, r.Tasks
	}
}

// NewNode makes a node of a client, which stays the caller's to close. It does not connect. The client must be a *redis.Client
// to one master, or the error matches [ErrClient]. Its options must be those that [NewClient] sets, or the error is an
// [*OptionsError], which says what to set.
func NewNode(client redis.UniversalClient, options ...Option) (*Node, error) {
	c, err := oneMaster(client)
	if err != nil {
		return nil, err
	}
	return newNode(c, options)
}

// newNode makes a node of a client whose connections lead to one server at a time.
func newNode(c *redis.Client, options []Option) (*Node, error) {
	if err := checkOptions(c.Options()); err != nil {
		return nil, err
	}
	n := &Node{client: c, name: c.Options().Addr}
	Runtime(driver.Runtime{})(n)
	for _, o := range options {
		o(n)
	}
	n.subscription.client, n.subscription.clock, n.subscription.tasks = c, n.clock, n.tasks
	return n, nil
}

// Name gives the node's name.
func (n *Node) Name() string { return n.name }

// Listen implements driver.Listener. All channels of the node share one connection, which is restored when it breaks, and
// closed when nobody listens any more.
func (n *Node) Listen(channel string, heard func()) (stop func()) {
	return n.subscription.listen(channel, heard)
}

// Do sends the batch on one connection: a single command as it is, several as one pipeline (without MULTI, each command
// being atomic by itself), in which commands of a kind share a script where that changes nothing for any key. It waits at
// most until the latest Deadline of the batch, and then every command has had its Done called.
//
// A script is sent with its source until the node has run it, and by its hash from then on: so its first use costs no
// further round trip, and a release whose reply is lost is applied all the same. Where a node has forgotten a script (it
// was restarted, or SCRIPT FLUSH was called) it gets the commands that met this once more with the source, except for
// those whose Deadline has passed. An acquire of one key is a plain SET, but until the node has voted it goes by a script, in
// full, that looks whether the server allows what a lock needs.
func (n *Node) Do(together []*driver.Command) {
	if len(together) == 0 {
		return
	}
	if len(together) == 1 {
		c := together[0]
		n.tasks.Start(func() {
			makeRoom()
			one := [1]*driver.Command{c}
			n.run(one[:])
		})
		return
	}
	commands := slices.Clone(together)
	n.tasks.Start(func() {
		makeRoom()
		n.run(commands)
	})
}

// makeRoom has the stack of a new goroutine grow once, while there is nothing on it, to what go-redis needs. Otherwise it
// doubles again and again below deep calls, which must all be adjusted: a fifth of the time of a lock.
//
//go:noinline
func makeRoom() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// run sends the commands and answers them. It uses the slice.
func (n *Node) run(commands []*driver.Command) {
	var t trial
	missed := n.send(commands, n.known.Scripts(), &t)
	for len(missed) > 0 {
		again := batch.Again(missed, &n.known, n.clock.Now())
		if len(again) == 0 {
			return
		}
		as, asks := t.Again(&n.known)
		if asks {
			why := t.why
			as, again = t.Asked(&n.known, n.findPlain(again[0]), again, func(c *driver.Command) { c.Done(c, forbidden(why)) })
			if len(again) == 0 {
				return
			}
		}
		missed = n.send(again, as, &t)
	}
}

// send sends the commands, with the sources of all scripts but those known, and answers them, except those that asked by
// hash for a script the node does not have, or for what it does not allow: these it returns, in the same slice.
func (n *Node) send(commands []*driver.Command, known batch.Scripts, t *trial) (missed []*driver.Command) {
	m := batch.Arrange(commands, known)
	last := m.Last()
	ctx := last.Context()
	if ctx == nil {
		c, cancel := n.clock.WithDeadline(context.Background(), last.Deadline)
		defer cancel()
		ctx = c
	}
	requests, looks, replicas := m.Requests(), m.Looks(), m.Replicas()
	// What Process and Exec return is also in what was sent, one by one.
	if len(requests) == 1 && replicas == 0 {
		sent := write(ctx, &requests[0], looks)
		_ = n.client.Process(ctx, sent)
		return m.Answered(&n.known, batch.Confirmation{}, func(_, command int) (batch.Fate, driver.Reply) {
			return n.read(&requests[0], sent, command, looks, t)
		})
	}
	sent := make([]redis.Cmder, len(requests))
	for i := range requests {
		sent[i] = write(ctx, &requests[i], looks)
	}
	pipeline := n.client.Pipeline()
	_ = pipeline.BatchProcess(ctx, sent...)
	var confirmed *redis.IntCmd
	if replicas > 0 {
		confirmed = redis.NewIntCmd(ctx, "wait", replicas, m.Patience(n.clock.Now()).Milliseconds())
		_ = pipeline.Process(ctx, confirmed)
	}
	_, _ = pipeline.Exec(ctx)
	return m.Answered(&n.known, confirmation(confirmed), func(request, command int) (batch.Fate, driver.Reply) {
		return n.read(&requests[request], sent[request], command, looks, t)
	})
}

// confirmation reads the answer to a WAIT, if there was one. An answer that came is used, as in replyTo.
func confirmation(answer *redis.IntCmd) (by batch.Confirmation) {
	if answer == nil {
		return by
	}
	if err := answer.Err(); err != nil && answer.Val() == 0 {
		return batch.Confirmation{Unknown: driver.Reply{Outcome: outcomeOf(err), Err: err}}
	}
	return batch.Confirmation{By: int(answer.Val())}
}

// ConfirmsReplicas implements driver.Replicated.
func (n *Node) ConfirmsReplicas() {}

// read reads what became of a request, and the reply to one of its commands. looks is as for write.
func (n *Node) read(r *batch.Request, answer redis.Cmder, command int, looks bool, t *trial) (fate batch.Fate, reply driver.Reply) {
	switch {
	case (r.InFull || r.Script == batch.None) && t.bars(r.Command(command), answer.Err(), n.known.Scripts()):
		return batch.Missed, reply
	case r.Script.IsPlain():
		if r.Script != batch.None && isPlainUnknown(answer.Err()) {
			return batch.Missed, reply
		}
	case answer.(*redis.Cmd).Val() != nil:
		fate = batch.Ran
	case !r.InFull && (redis.HasErrorPrefix(answer.Err(), "NOSCRIPT") || isHashForbidden(answer.Err())):
		return batch.Missed, reply
	}
	if r.IsJoint() {
		reply = jointReply(r, command, answer.(*redis.Cmd))
	} else {
		reply = replyTo(r.First, answer)
	}
	if looks && reply.Outcome == driver.Accepted && r.First.Op == driver.OpAcquire {
		n.known.Learn(foundPlain(r, answer))
	}
	return fate, n.judge(reply)
}

// judge learns from a reply what the server lets its user do: it is asked again after anything that makes it doubtful. A
// server that forbids something is not asked to vote by a plain SET until it has been found to allow all.
func (n *Node) judge(reply driver.Reply) driver.Reply {
	switch {
	case reply.Outcome == driver.Refused: // another server may be there next, or another user
		n.known.Doubt()
	case reply.Outcome == driver.Failed && isForbidden(reply.Err):
		n.known.Forbade(isScriptForbidden(reply.Err))
		return forbidden(reply.Err)
	}
	return reply
}

// write writes a request out: a *redis.StatusCmd if it is a SET without a look, otherwise a *redis.Cmd. With looks,
// while nothing is known of what the server allows, acquires ask for that as well, and what could be a plain SET goes by a
// script, in full: it costs no further round trip.
func write(ctx context.Context, r *batch.Request, looks bool) redis.Cmder {
	if r.IsJoint() {
		return writeJoint(ctx, r, looks)
	}
	c := r.First
	keys, value, ttl := c.Arguments()
	if r.Script == batch.None && looks {
		return redis.NewCmd(ctx, "eval", scripts[batch.Acquire].source, 1, keys[0], value, ttl, firstContactOf(c))
	}
	if r.Script == batch.None {
		return redis.NewStatusCmd(ctx, "set", keys[0], value, "nx", "px", ttl)
	}
	if r.Script.IsPlain() {
		return writePlain(ctx, r)
	}
	q := c.Conditions
	args := make([]any, 0, 3+2*len(keys)+1+7)
	args = call(args, r)
	args = append(args, 0) // the number of keys, below
	args = append(args, keys...)
	if c.Op == driver.OpAcquire && q != nil {
		args = appendKeysUnder(args, c)
	}
	args[2] = len(args) - 3
	switch c.Op {
	case driver.OpAcquire:
		args = append(args, value, ttl)
		if q != nil {
			args = append(args, q.Token, int64(q.CounterTTL/time.Millisecond), int64(q.MaxTTL/time.Millisecond), q.Watched)
		}
		if looks {
			args = append(args, firstContactOf(c))
		}
	case driver.OpExtend:
		args = append(args, value, ttl)
	case driver.OpRelease:
		args = append(args, value)
		if c.Wake {
			args = append(args, driver.WakeChannel(""))
		}
	case driver.OpPrepare:
		args = append(args, int64(q.MaxTTL/time.Millisecond), q.Watched)
	}
	return redis.NewCmd(ctx, args...)
}

// appendKeysUnder adds the further keys that an acquire under conditions touches, in the order in which vote.lua takes
// them.
func appendKeysUnder(args []any, c *driver.Command) []any {
	if c.Conditions.Token != 0 {
		for _, key := range c.Keys {
			args = append(args, driver.TokenKey(key))
		}
	}
	if c.Conditions.MaxTTL != 0 {
		args = append(args, driver.GuardKey)
	}
	return args
}
