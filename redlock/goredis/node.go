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
// Who has options of their own (TLS, credentials, hooks) makes each client with [NewClient] and wraps it with
// [NewNode]. Give the lock clients of its own: what a lock needs of go-redis is not what a cache needs, and with
// go-redis' defaults a command with a deadline of 50 ms can take 5 s and be sent four times. NewNode therefore refuses
// clients that are set up in another way, and says what to set.
package goredis

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
)

// Node is a redlock.Node behind a go-redis client. Make one with [NewNode].
type Node struct {
	client *redis.Client
	name   string
	clock  redlock.Clock
	tasks  redlock.Tasks
	known  atomic.Uint32 // the scripts that the server has confirmed to know, by their bits

	subscription subscription
}

var _ redlock.Listener = (*Node)(nil)

// Option changes a Node.
type Option func(*Node)

// Name names the node; without it the name is the client's address.
func Name(name string) Option { return func(n *Node) { n.name = name } }

// Clock gives the node the clock that the commands' deadlines are read from: the one of the redlock client. The default
// is redlock.SystemClock.
func Clock(clock redlock.Clock) Option { return func(n *Node) { n.clock = clock } }

// Tasks makes the node start its goroutines there. The default is redlock.SystemTasks.
func Tasks(tasks redlock.Tasks) Option { return func(n *Node) { n.tasks = tasks } }

// NewNode makes a node of a client, which stays the caller's to close. The client must be a *redis.Client to one
// master, else the error is an [ErrClient]; its options must be those that [NewClient] sets, else the error is an
// [*OptionsError], which says what to set. NewNode does not connect.
func NewNode(client redis.UniversalClient, options ...Option) (*Node, error) {
	c, err := oneMaster(client)
	if err != nil {
		return nil, err
	}
	if err := checkOptions(c.Options()); err != nil {
		return nil, err
	}
	n := &Node{client: c, name: c.Options().Addr, clock: redlock.SystemClock(), tasks: redlock.SystemTasks()}
	for _, o := range options {
		o(n)
	}
	return n, nil
}

// Name gives the node's name.
func (n *Node) Name() string { return n.name }

// Do sends the batch on one connection: a single command as it is, several as one pipeline (without MULTI, each command
// being atomic by itself), in which commands of a kind share a script where that changes nothing for any key. It waits at
// most until the latest Deadline of the batch, and then every command has had its Done called.
//
// A script is sent with its source until the node has run it, and by its hash from then on: so its first use costs no
// further round trip, and a release whose reply is lost is applied all the same. Where a node has forgotten a script (it
// was restarted, or SCRIPT FLUSH was called) it gets the commands that met this once more with the source, except for
// those whose Deadline has passed.
func (n *Node) Do(batch []*redlock.Command) {
	if len(batch) == 0 {
		return
	}
	if len(batch) == 1 {
		c := batch[0]
		n.tasks.Start(func() {
			makeRoom()
			one := [1]*redlock.Command{c}
			n.run(one[:])
		})
		return
	}
	commands := slices.Clone(batch)
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
func (n *Node) run(commands []*redlock.Command) {
	missed := n.round(commands, false)
	if len(missed) == 0 {
		return
	}
	now := n.clock.Now()
	again := missed[:0]
	for _, c := range missed {
		if now.Before(c.Deadline) {
			again = append(again, c)
			n.known.And(^(scriptOf(c).bit | releasesScript.bit | votesScript.bit))
		} else {
			c.Done(c, redlock.Reply{Outcome: redlock.TimedOut, Err: errNoTimeForSource})
		}
	}
	if len(again) > 0 {
		n.round(again, true)
	}
}

var errNoTimeForSource = fmt.Errorf("goredis: the node did not know the script and there was no time left to send it: %w",
	context.DeadlineExceeded)

// round sends the commands, with the sources of their scripts if again is set, and answers them, except those that asked
// by hash for a script the node does not have: these it returns, in the same slice.
func (n *Node) round(commands []*redlock.Command, again bool) (missed []*redlock.Command) {
	known := n.known.Load()
	if again {
		known = 0
	}
	last := commands[0]
	for _, c := range commands[1:] {
		if c.Deadline.After(last.Deadline) {
			last = c
		}
	}
	ctx := last.Context()
	if ctx == nil {
		c, cancel := n.clock.WithDeadline(context.Background(), last.Deadline)
		defer cancel()
		ctx = c
	}
	missed = commands[:0]
	// What Process and Exec return is also in the requests, one by one.
	if len(commands) == 1 {
		s := step{first: last}
		_ = n.client.Process(ctx, s.request(ctx, known))
		if !n.finish(&s, last, known) {
			missed = append(missed, last)
		}
		return missed
	}
	steps, of := plan(commands)
	requests := make([]redis.Cmder, len(steps))
	for i := range steps {
		requests[i] = steps[i].request(ctx, known)
	}
	if len(requests) == 1 {
		_ = n.client.Process(ctx, requests[0])
	} else {
		pipeline := n.client.Pipeline()
		_ = pipeline.BatchProcess(ctx, requests...)
		_, _ = pipeline.Exec(ctx)
	}
	for i, c := range commands {
		if !n.finish(&steps[of[i]], c, known) {
			missed = append(missed, c)
		}
	}
	return missed
}

// finish answers the next command of a step, unless the step asked by hash for a script that the node does not have.
func (n *Node) finish(s *step, c *redlock.Command, known uint32) bool {
	if !n.knows(s.script, s.answer, known) {
		return false
	}
	c.Done(c, s.replyTo(c))
	return true
}

// knows learns from the answer to a script, which is nil for a plain SET, whether the node knows it; false if it was asked
// for by its hash and the node does not.
func (n *Node) knows(s *script, answer redis.Cmder, known uint32) bool {
	switch err := answer.Err(); {
	case s == nil:
	case known&s.bit == 0 && answer.(*redis.Cmd).Val() != nil:
		n.known.Or(s.bit)
	case known&s.bit != 0 && err != nil && redis.HasErrorPrefix(err, "NOSCRIPT"):
		return false
	}
	return true
}

// request writes a command out: a *redis.StatusCmd if it is plain, otherwise a *redis.Cmd with a script, by its hash if
// that is one of those known.
func request(ctx context.Context, c *redlock.Command, known uint32) redis.Cmder {
	keys, value, ttl := c.Arguments()
	if isPlain(c) {
		return redis.NewStatusCmd(ctx, "set", keys[0], value, "nx", "px", ttl)
	}
	q := c.Conditions
	s := scriptOf(c)
	args := make([]any, 0, 3+2*len(keys)+1+6)
	args = s.call(args, known)
	args = append(args, 0) // the number of keys, below
	args = append(args, keys...)
	if c.Op == redlock.OpAcquire && q != nil {
		args = appendKeysUnder(args, c)
	}
	args[2] = len(args) - 3
	switch c.Op {
	case redlock.OpAcquire:
		args = append(args, value, ttl)
		if q != nil {
			args = append(args, q.Token, int64(q.CounterTTL/time.Millisecond), int64(q.MaxTTL/time.Millisecond), q.Watched)
		}
	case redlock.OpExtend:
		args = append(args, value, ttl)
	case redlock.OpRelease:
		args = append(args, value)
		if c.Wake {
			args = append(args, redlock.WakeChannel(""))
		}
	case redlock.OpPrepare:
		args = append(args, int64(q.MaxTTL/time.Millisecond), q.Watched)
	}
	return redis.NewCmd(ctx, args...)
}

// appendKeysUnder adds the further keys that an acquire under conditions touches, in the order in which vote.lua takes
// them.
func appendKeysUnder(args []any, c *redlock.Command) []any {
	if c.Conditions.Token != 0 {
		for _, key := range c.Keys {
			args = append(args, redlock.TokenKey(key))
		}
	}
	if c.Conditions.MaxTTL != 0 {
		args = append(args, redlock.GuardKey)
	}
	return args
}

// isPlain reports whether the command needs no script: SET NX PX is the whole acquire of one key.
func isPlain(c *redlock.Command) bool {
	return c.Op == redlock.OpAcquire && len(c.Keys) == 1 && c.Conditions == nil
}
