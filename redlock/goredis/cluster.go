package goredis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisnode"
	"redlocksim/internal/subscription"
	"redlocksim/redlock/driver"
)

// cluster is a Redis cluster as one node: each command goes to the primary of its keys' slot, over that one's own client, so
// that nothing is repeated or redirected but what the primary has refused as not its own.
type cluster struct {
	client  *redis.ClusterClient
	options []Option
	self    Node // what the options set

	mu        sync.Mutex
	primaries map[*redis.Client]*Node

	listening    redisnode.Listening
	subscription *subscription.Subscription
}

var (
	_ driver.Listener   = (*cluster)(nil)
	_ driver.Replicated = (*cluster)(nil)
)

func newCluster(client *redis.ClusterClient, options []Option) (*cluster, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", ErrClient)
	}
	o := client.Options()
	if o.NewClient == nil || !o.ContextTimeoutEnabled || o.MaxRedirects > 0 {
		return nil, fmt.Errorf("%w: a cluster client with other options repeats commands while it follows redirects; "+
			"make it with goredis.NewClusterClient", ErrClient)
	}
	n := &cluster{client: client, options: options, primaries: map[*redis.Client]*Node{}}
	n.self.name = "cluster"
	Runtime(driver.Runtime{})(&n.self)
	for _, o := range options {
		o(&n.self)
	}
	n.subscription = subscriptionOf(client, &n.listening, n.self.clock, n.self.tasks)
	return n, nil
}

// Name implements driver.Node.
func (n *cluster) Name() string { return n.self.name }

// ConfirmsReplicas implements driver.Replicated.
func (n *cluster) ConfirmsReplicas() {}

// Listen implements driver.Listener. A cluster passes what is published on to all its nodes.
func (n *cluster) Listen(channel string, heard func(message string)) (stop func()) {
	return n.subscription.Listen(channel, heard)
}

// Do implements driver.Node. A command that a node has refused because its slot is elsewhere, or its key while the slot is
// migrated, goes there, once: nothing of it was carried out. A command for several keys of such a slot fails (TRYAGAIN) while
// one of them is there and another is not.
func (n *cluster) Do(commands []*driver.Command) {
	commands = slices.Clone(commands)
	n.self.tasks.Start(func() { n.send(commands, n.follow) })
}

// send gives the commands to the primaries of their slots. Those that one refuses as not its own go to moved.
func (n *cluster) send(commands []*driver.Command, moved func(*driver.Command, driver.Reply, *Node)) {
	to := map[*Node][]*driver.Command{}
	var order []*Node
	for _, c := range commands {
		primary, reply := n.primaryOf(c)
		if primary == nil {
			c.Done(c, reply)
			continue
		}
		if to[primary] == nil {
			order = append(order, primary)
		}
		copied := *c
		copied.Done = func(_ *driver.Command, reply driver.Reply) { n.answered(c, reply, primary, moved) }
		to[primary] = append(to[primary], &copied)
	}
	for _, primary := range order {
		primary.Do(to[primary])
	}
}

// answered passes a reply on, and looks where the slots are now if it makes that doubtful.
func (n *cluster) answered(c *driver.Command, reply driver.Reply, by *Node, moved func(*driver.Command, driver.Reply, *Node)) {
	if addr, is := redis.IsAskError(reply.Err); is {
		n.ask(c, reply, by, addr)
		return
	}
	isMoved := reply.Outcome == driver.Failed && redis.HasErrorPrefix(reply.Err, "MOVED")
	if isMoved || reply.Outcome == driver.Refused || reply.Outcome == driver.TimedOut {
		n.client.ReloadState(context.Background())
	}
	if isMoved && moved != nil {
		moved(c, reply, by)
		return
	}
	c.Done(c, reply)
}

// lookAgain is how long a command that was refused waits for news of where its slot is.
const lookAgain = time.Millisecond

// follow sends a command to another node than the one that refused it, as soon as it is known, or passes the refusal on once
// there is no time left.
func (n *cluster) follow(c *driver.Command, refused driver.Reply, by *Node) {
	n.self.clock.AfterFunc(lookAgain, func() {
		n.self.tasks.Start(func() {
			switch primary, _ := n.primaryOf(c); {
			case c.IsMoot() || !n.self.clock.Now().Add(lookAgain).Before(c.Deadline):
				c.Done(c, refused)
			case primary == nil || primary == by:
				n.follow(c, refused, by)
			default:
				n.send([]*driver.Command{c}, nil)
			}
		})
	})
}

// ErrSlot matches the error of a lock that cannot be taken on a cluster: a script may only touch keys of one slot.
var ErrSlot = errors.New("goredis: on a cluster all keys of a lock must be in one slot")

// primaryOf is the node to which a command goes, or nil and what the reply is then.
func (n *cluster) primaryOf(c *driver.Command) (*Node, driver.Reply) {
	if err := inOneSlot(c); err != nil {
		return nil, driver.Reply{Outcome: driver.Failed, Err: err}
	}
	ctx, cancel := n.self.clock.WithDeadline(context.Background(), c.Deadline)
	defer cancel()
	client, err := n.primaryFor(ctx, c.Keys[0])
	if err != nil {
		return nil, driver.Reply{Outcome: outcomeOf(err), Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	primary := n.primaries[client]
	if primary == nil {
		if primary, err = n.newPrimary(client); err != nil {
			return nil, driver.Reply{Outcome: driver.Failed, Err: err}
		}
		if len(n.primaries) > 0 {
			n.self.tasks.Start(n.dropOthers)
		}
		n.primaries[client] = primary
	}
	return primary, driver.Reply{}
}

// primaryFor is the client of the primary of a key's slot, as go-redis knows the cluster or learns now.
func (n *cluster) primaryFor(ctx context.Context, key string) (client *redis.Client, err error) {
	defer noPanic(&err)
	return n.client.MasterForKey(ctx, key)
}

// inOneSlot checks that the keys of a command, and those that go with them, have one hash tag, or are a single key.
func inOneSlot(c *driver.Command) error {
	tag := hashTag(c.Keys[0])
	for _, key := range c.Keys[1:] {
		if hashTag(key) != tag {
			return fmt.Errorf("%w: %q and %q are not; give them one hash tag, as in {orders}/1", ErrSlot, c.Keys[0], key)
		}
	}
	q := c.Conditions
	switch {
	case q == nil:
	case q.MaxTTL != 0:
		return fmt.Errorf("%w: the restart guard's record, %q, is in another", ErrSlot, driver.GuardKey)
	case q.Token != 0 && hashTag(driver.TokenKey(c.Keys[0])) != tag:
		return fmt.Errorf("%w: the fencing counter of %q is in another; give the resource a hash tag, as in {orders}/1, or take tokens from elsewhere", ErrSlot, c.Keys[0])
	}
	return nil
}

// hashTag is the part of a key by which a cluster chooses its slot.
func hashTag(key string) string {
	if _, rest, has := strings.Cut(key, "{"); has {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			return tag
		}
	}
	return key
}
