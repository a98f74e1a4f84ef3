package redlocktest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
)

// apart is how long the first node takes to answer, and how much later each node does than the one before it. So no two answers
// come at one time, nor while the client still sends, and a test in a bubble takes the same course whichever goroutine runs
// first.
const apart = time.Microsecond

// node is a server in memory, and the connection to it.
type node struct {
	index int
	test  *test

	mu        sync.Mutex
	faults    faults
	memory    votes.Memory
	published []published // by the command under way
	restarts  int
	underWay  []message // by when they arrive
	listeners map[string][]*listener
}

// faults are what is wrong with a node.
type faults struct {
	down, dropsRequests, dropsReplies bool
	slow                              time.Duration
	ended                             bool // the test is over, and nothing may happen any more
}

// message is commands on their way to the node.
type message struct {
	arrives  time.Time
	commands []*driver.Command
}

// answer is a reply on its way back.
type answer struct {
	command *driver.Command
	reply   driver.Reply
}

// published is a message to those who listen.
type published struct{ channel, message string }

// listener wants to be told of what is published on a channel.
type listener struct{ heard func(message string) }

var (
	_ driver.Listener   = (*node)(nil)
	_ driver.Replicated = (*node)(nil)
)

// ConfirmsReplicas implements driver.Replicated.
func (*node) ConfirmsReplicas() {}

func newNode(i int, t *test) *node {
	n := &node{index: i, test: t, listeners: map[string][]*listener{}}
	n.begin()
	return n
}

// begin has the node begin a run, with nothing in its memory.
func (n *node) begin() {
	n.memory = votes.Memory{Run: n.runID(), Tell: func(channel, message string) int {
		n.published = append(n.published, published{channel, message})
		return len(n.listeners[channel])
	}}
}

// Name implements driver.Node.
func (n *node) Name() string { return fmt.Sprint("node-", n.index) }

// runID tells the runs of the node between restarts apart, and looks like one of INFO server.
func (n *node) runID() string { return fmt.Sprintf("%020x%020x", n.index, n.restarts) }

// Do implements driver.Node. Commands that arrive at one time are carried out in the order in which they were sent.
func (n *node) Do(batch []*driver.Command) {
	for _, c := range batch {
		n.test.leases.sent(c)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults.dropsRequests {
		return
	}
	trip := apart * time.Duration(n.index+1)
	if !n.faults.down {
		trip += n.faults.slow
	}
	arrives := time.Now().Add(trip)
	place := len(n.underWay)
	for place > 0 && n.underWay[place-1].arrives.After(arrives) {
		place--
	}
	n.underWay = slices.Insert(n.underWay, place, message{arrives, slices.Clone(batch)})
	time.AfterFunc(trip, n.deliver)
}

// deliver carries out what has arrived, and answers it with no lock held.
func (n *node) deliver() {
	var answers []answer
	var told []func()
	n.mu.Lock()
	if n.faults.ended {
		n.mu.Unlock()
		return
	}
	now := time.Now()
	for len(n.underWay) > 0 && !n.underWay[0].arrives.After(now) {
		for _, c := range n.underWay[0].commands {
			reply, published := n.carryOut(c, now)
			answers = append(answers, answer{c, reply})
			for _, p := range published {
				for _, l := range n.listeners[p.channel] {
					told = append(told, func() { l.heard(p.message) })
				}
			}
		}
		n.underWay = slices.Delete(n.underWay, 0, 1)
	}
	silent := n.faults.dropsReplies
	n.mu.Unlock()
	if silent {
		return
	}
	for _, a := range answers {
		a.command.Done(a.command, a.reply)
	}
	for _, tell := range told {
		tell()
	}
}

// errRefused is what a dial to a port gives on which nobody listens.
var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// carryOut has the command done, and gives the reply and what it publishes. The node is locked.
func (n *node) carryOut(c *driver.Command, now time.Time) (reply driver.Reply, _ []published) {
	if n.faults.down {
		return driver.Reply{Outcome: driver.Refused, Err: errRefused}, nil
	}
	n.published = nil
	reply = votes.Do(&n.memory, c, now.UnixMilli())
	if c.Op == driver.OpAcquire && reply.Outcome == driver.Accepted {
		n.test.leases.voted(c)
	}
	return reply, n.published
}

// Listen implements driver.Listener.
func (n *node) Listen(channel string, heard func(message string)) (stop func()) {
	l := &listener{heard}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[channel] = append(n.listeners[channel], l)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.listeners[channel] = slices.DeleteFunc(n.listeners[channel], func(o *listener) bool { return o == l })
	}
}

func (n *node) set(change func(*faults)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.faults)
}

func (n *node) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.restarts++
	n.begin()
}

func (n *node) steal(resource string, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.memory.Set(resource, "stolen", now.Add(ttl).UnixMilli())
	if c, is := n.memory.Get(driver.TokenKey(resource), now.UnixMilli()); is { // another has the next token
		token, _ := strconv.ParseInt(c.Value, 10, 64)
		n.memory.Set(driver.TokenKey(resource), strconv.FormatInt(token+1, 10), c.Until)
	}
}

func (n *node) drop(resources []string, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range resources {
		if k, _ := n.memory.Get(key, 0); k.Value == value {
			n.memory.Delete(key)
		}
	}
}
