// Package rueidis lets package redlock talk to its servers through rueidis (github.com/redis/rueidis). It is a module of its
// own, so that nobody else depends on rueidis.
//
// [Open] is the short way, from addresses or redis:// URLs to nodes:
//
//	nodes, err := rueidis.Open("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379")
//	if err != nil {
//		return err
//	}
//	defer nodes.Close()
//
// For options of your own (TLS, credentials), use an [Opener], or [NewNode] for each server. A node makes its client itself,
// since one that is made already does not say whether it repeats commands.
//
// A node has one connection for all commands, which rueidis pipelines, and which carries them out in the order in which they
// were sent: a release never overtakes the acquire that it is for. A command that times out leaves the connection as it is. One
// that has been silent for two to three seconds is given up; package goredis, which has many, gives one up at each timeout.
// When a batch times out, answers that had come are lost with the others, as if none had come. Locks whose replicas confirm
// them (redlock.WithReplicas) take connections of their own, and dial them within their deadlines.
//
// A node is one independent master. For one logical Redis (package single) use goredis: of a client for Sentinel or for a
// cluster, rueidis does not tell to which server a command went, and it follows redirects by itself.
package rueidis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"redlocksim/internal/redisnode"
	"redlocksim/internal/subscription"
	"redlocksim/redlock/driver"
)

var adapter = redisnode.NewAdapter("rueidis")

// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server does
// not vote: it would keep locks that cannot be extended or released.
var ErrCommands = adapter.ErrCommands

// Node is one server behind a rueidis client of its own, for redlock.New. Make one with [NewNode].
type Node struct {
	name         string
	clock        driver.Clock
	tasks        driver.Tasks
	client       rueidis.Client
	line         *line
	server       *redisnode.Server
	subscription *subscription.Subscription
}

var (
	_ driver.Listener   = (*Node)(nil)
	_ driver.Replicated = (*Node)(nil)
)

// Option is a setting of a Node. Of two with the same name the last counts.
type Option func(*Node)

// Name names the node in errors and events. The default is the server's address.
func Name(name string) Option { return func(n *Node) { n.name = name } }

// Runtime gives the node the clock and the goroutines of its redlock client; see redlock.WithRuntime.
func Runtime(r driver.Runtime) Option {
	return func(n *Node) {
		r = r.Filled()
		n.clock, n.tasks = r.Clock, r.Tasks
	}
}

// NewNode makes a node of the server that the options name, and connects with its first command. It sets the options that
// [Opener] lists. If they are for anything but one master, or have rueidis repeat commands, the error matches [ErrOptions].
func NewNode(of rueidis.ClientOption, options ...Option) (*Node, error) {
	if err := checkOptions(&of); err != nil {
		return nil, err
	}
	n := &Node{name: of.InitAddress[0]}
	Runtime(driver.Runtime{})(n)
	for _, o := range options {
		o(n)
	}
	suit(&of)
	n.line = newLine(&of, n.clock, n.tasks)
	client, err := rueidis.NewClient(of)
	if client == nil {
		return nil, fmt.Errorf("rueidis: client for %s: %w", of.InitAddress[0], err)
	}
	n.client = client // the error is that of its attempt to connect, which the line refuses
	n.line.ping = func(ctx context.Context) (err error) {
		defer noPanic(&err)
		return client.Do(ctx, client.B().Ping().Build()).NonRedisError()
	}
	n.server = redisnode.NewServer(adapter, n.clock)
	n.subscription = subscription.New(func() subscription.Connection { return newListening(client, n.clock) }, n.server.Listening().Told, n.clock, n.tasks)
	return n, nil
}

// Name gives the node's name.
func (n *Node) Name() string { return n.name }

// ConfirmsReplicas implements driver.Replicated.
func (n *Node) ConfirmsReplicas() {}

// Listen implements driver.Listener. All channels of the node share one connection, which is restored when it breaks, and
// closed when nobody listens any more.
func (n *Node) Listen(channel string, heard func(message string)) (stop func()) {
	return n.subscription.Listen(channel, heard)
}

// Close ends the subscriptions of redlock.WithWakeUp and closes the client. Commands in flight end with redlock.Refused. A
// server that does not answer can delay Close by two seconds.
func (n *Node) Close() error {
	wait := n.subscription.End()
	n.line.close(n.client.Close)
	wait()
	return nil
}

// Do sends the batch as one pipeline (without MULTI, each command being atomic by itself), in which commands of a kind share a
// script where that changes nothing for any key. It waits at most until the latest Deadline of the batch, and then every
// command has had its Done called; but a connection that breaks at that moment can take two seconds more.
//
// Scripts go as package goredis has them: in full until the node has run them, and by their hashes from then on.
func (n *Node) Do(together []*driver.Command) {
	if len(together) == 0 {
		return
	}
	commands := slices.Clone(together)
	n.tasks.Start(func() {
		x := n.server.Begin()
		for len(commands) > 0 {
			commands = n.send(&x, commands)
		}
	})
}

// send sends the next message of an exchange, and gives those commands that one more is for.
func (n *Node) send(x *redisnode.Exchange, commands []*driver.Command) (again []*driver.Command) {
	m := x.Message(commands)
	ctx, end := m.Context()
	defer end()
	if m.Waits() {
		ctx = mayDial(ctx) // the server keeps a connection busy, so that it takes one of its own
	}
	var room [1]redisnode.Answer
	answers := room[:]
	if m.Len() > 1 {
		answers = make([]redisnode.Answer, m.Len())
	}
	err := n.line.connect(ctx)
	for err == nil && n.ask(ctx, &m, answers) == errNotConnected {
		err = n.line.connect(ctx)
	}
	if err != nil {
		for i := range answers {
			answers[i] = noAnswer(err)
		}
	}
	return m.Answered(x, func(number int) redisnode.Answer { return answers[number] })
}

// ask sends a message and waits for its answers. The error is that of the connection.
func (n *Node) ask(ctx context.Context, m *redisnode.Message, answers []redisnode.Answer) (err error) {
	defer func() {
		if p := panicked(recover()); p != nil {
			err = p
			for i := range answers {
				answers[i] = noAnswer(err)
			}
		}
	}()
	if len(answers) == 1 {
		c, kind := n.write(m, 0)
		result := n.client.Do(ctx, c)
		answers[0] = answerTo(result, kind)
		return result.NonRedisError()
	}
	all, kinds := make([]rueidis.Completed, len(answers)), make([]redisnode.Kind, len(answers))
	for i := range all {
		all[i], kinds[i] = n.write(m, i)
	}
	results := n.client.DoMulti(ctx, all...)
	for i, result := range results {
		answers[i] = answerTo(result, kinds[i])
	}
	return results[0].NonRedisError()
}

// write writes out a command of a message, and says with what it is answered. rueidis uses what it was sent again, or keeps it.
func (n *Node) write(m *redisnode.Message, number int) (rueidis.Completed, redisnode.Kind) {
	var room [16]any
	args, kind := m.Append(room[:0], number)
	c := n.client.B().Arbitrary(strings.ToUpper(args[0].(string)))
	for _, arg := range args[1:] {
		switch arg := arg.(type) {
		case string:
			c = c.Args(arg)
		case int:
			c = c.Args(strconv.Itoa(arg))
		case int64:
			c = c.Args(strconv.FormatInt(arg, 10))
		}
	}
	if kind == redisnode.Number {
		return c.Blocking(), kind // a WAIT
	}
	return c.Build(), kind
}
