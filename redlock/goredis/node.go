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

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisnode"
	"redlocksim/internal/resp"
	"redlocksim/internal/subscription"
	"redlocksim/redlock/driver"
)

// Node is one server behind a go-redis client, for redlock.New. Make one with [NewNode].
type Node struct {
	client *redis.Client
	name   string
	clock  driver.Clock
	tasks  driver.Tasks
	server *redisnode.Server
	asks   bool // each command is for a slot that is being migrated to the server

	subscription *subscription.Subscription
}

var (
	_ driver.Listener   = (*Node)(nil)
	_ driver.Replicated = (*Node)(nil)
)

// Option is a setting of a Node. Of two with the same name the last counts.
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
	c.AddHook(bounds(resp.Lock)) // whoever made it
	n := &Node{client: c, name: c.Options().Addr}
	Runtime(driver.Runtime{})(n)
	for _, o := range options {
		o(n)
	}
	n.server = redisnode.NewServer(adapter, n.clock)
	n.subscription = subscriptionOf(c, n.server.Listening(), n.clock, n.tasks)
	return n, nil
}

// Name gives the node's name.
func (n *Node) Name() string { return n.name }

// Listen implements driver.Listener. All channels of the node share one connection, which is restored when it breaks, and
// closed when nobody listens any more.
func (n *Node) Listen(channel string, heard func(message string)) (stop func()) {
	return n.subscription.Listen(channel, heard)
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
	x := n.server.Begin()
	for len(commands) > 0 {
		commands = n.send(&x, commands)
	}
}

// send sends the next message of an exchange, and gives those commands that one more is for.
func (n *Node) send(x *redisnode.Exchange, commands []*driver.Command) (again []*driver.Command) {
	m := x.Message(commands)
	ctx, end := m.Context()
	defer end()
	// What Process and Exec return is also in what was sent, one by one.
	if m.Len() == 1 && !n.asks {
		sent := write(ctx, &m, 0)
		process(ctx, n.client, sent)
		return m.Answered(x, func(int) redisnode.Answer { return answerTo(sent) })
	}
	sent := make([]redis.Cmder, m.Len())
	pipeline := n.client.Pipeline()
	for i := range sent {
		sent[i] = write(ctx, &m, i)
	}
	_ = pipeline.BatchProcess(ctx, n.asking(ctx, sent)...)
	run(ctx, pipeline, sent)
	return m.Answered(x, func(number int) redisnode.Answer { return answerTo(sent[number]) })
}

// asking puts an ASKING before each command if the server needs that.
func (n *Node) asking(ctx context.Context, commands []redis.Cmder) (all []redis.Cmder) {
	if !n.asks {
		return commands
	}
	for _, c := range commands {
		all = append(all, redis.NewStatusCmd(ctx, "asking"), c)
	}
	return all
}

// write writes out a command of a message.
func write(ctx context.Context, m *redisnode.Message, number int) redis.Cmder {
	switch args, kind := m.Append(nil, number); kind {
	case redisnode.Status:
		return redis.NewStatusCmd(ctx, args...)
	case redisnode.Number:
		return redis.NewIntCmd(ctx, args...)
	default:
		return redis.NewCmd(ctx, args...)
	}
}

// ConfirmsReplicas implements driver.Replicated.
func (n *Node) ConfirmsReplicas() {}
