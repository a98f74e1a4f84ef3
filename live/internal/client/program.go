//go:build linux

package client

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/redisproc"
	"redlocksim/scenarios/programs/conversation"
	"redlocksim/scenarios/programs/process"
	"redlocksim/scenarios/protocols"
)

// startProgram starts the client's lock program, which is stopped and killed with it, and talks to it in the client's turns. It
// returns when the program is ready.
func (c *client) startProgram(env protocols.Env) (protocols.Locker, error) {
	h := c.host
	nonsense := func(format string, args ...any) {
		c.report.tell(Notice{Nonsense: fmt.Sprintf(format, args...)})
	}
	var x *conversation.Conversation
	ready := make(chan struct{})
	h.Enter() // nothing is heard before the conversation has begun
	p, err := process.Start(h.role.Lock, func(line []byte) {
		h.Enter()
		defer h.Leave()
		was := x.Ready()
		x.Hear(line)
		if was == nil && x.Ready() != nil {
			close(ready)
		}
	}, func(why string) { nonsense("%s", why) })
	if err != nil {
		h.Leave()
		nonsense("it cannot be started: %v", err)
		return nil, fmt.Errorf("live: the lock program: %w", err)
	}
	x = conversation.Begin(env, conversation.Partner{Tell: p.Tell, Fail: nonsense}, c.addresses(env.FirstNode))
	h.Leave()
	select {
	case <-ready:
		return x, nil
	case <-time.After(untilReady):
		nonsense("it is not ready %v after it was told to init", untilReady)
		return nil, fmt.Errorf("live: the lock program is not ready after %v", untilReady)
	}
}

// untilReady is how long a lock program may take to make its lock. The parent waits longer for the client.
const untilReady = redisproc.Patience * 3 / 4

// addresses are those of the nodes for a lock program; one on one Redis is given first the one for that.
func (c *client) addresses(first string) []string {
	all := slices.Clone(c.host.role.Nodes)
	if i := slices.Index(c.scenario.Nodes.Names, first); c.host.role.OneNode && i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	return all
}
