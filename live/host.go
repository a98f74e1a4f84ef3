//go:build linux

package live

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"redlocksim/history"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// host is what a client process offers to its programs and their protocol, which are the simulator's. One of them runs at a
// time: the one that has the turn, a mutex. Only the shipped library runs without it, as in production; its calls back wait for
// the turn.
type host struct {
	client  *client
	turn    sync.Mutex
	redis   []protocols.Redis
	nodes   []driver.Node
	serving sync.Map // the names of those who were promoted, by the node in whose place
	stuck   atomic.Bool
	ops     int // numbered so far, under the turn
}

// newHost makes the host of a client, which must have its connections.
func newHost(c *client) (*host, error) {
	h := &host{client: c}
	for i, rc := range c.redis {
		name := c.scenario.Nodes.Names[i]
		n, err := goredis.NewNode(rc, goredis.Name(name), goredis.Runtime(driver.Runtime{Clock: c.clock}))
		if err != nil {
			return nil, err
		}
		h.nodes = append(h.nodes, n)
		h.redis = append(h.redis, &connection{host: h, name: name, redis: rc, plain: redisconn.New(rc, c.clock)})
	}
	return h, nil
}

// Enter and Leave implement protocols.Host.
func (h *host) Enter() { h.turn.Lock() }
func (h *host) Leave() { h.turn.Unlock() }

// Name implements protocols.Host.
func (h *host) Name() string { return h.client.role.Name }

// LockClock implements protocols.Host.
func (h *host) LockClock() driver.Clock { return turnClock{h.client.clock, h} }

// Wall implements protocols.Host.
func (h *host) Wall() time.Time { return h.client.clock.wall() }

// Tasks implements protocols.Host.
func (h *host) Tasks() driver.Tasks { return turnTasks{h} }

// Rand implements protocols.Host.
func (h *host) Rand() io.Reader { return rand.Reader }

// Sleep implements protocols.Host.
func (h *host) Sleep(ctx context.Context, d time.Duration) {
	w := h.Tasks().NewWaiter()
	t := h.client.clock.AfterFunc(d, w.Wake)
	w.Wait(ctx)
	t.Stop()
}

// Scale implements protocols.Host.
func (h *host) Scale(d time.Duration) time.Duration { return d / time.Duration(h.client.Speed) }

// Redis implements protocols.Host.
func (h *host) Redis() []protocols.Redis { return h.redis }

// Serving implements protocols.Host.
func (h *host) Serving(node string) string {
	if by, ok := h.serving.Load(node); ok {
		return by.(string)
	}
	return node
}

// Nodes implements protocols.Host.
func (h *host) Nodes() []driver.Node { return h.nodes }

// Runtime implements protocols.Host.
func (h *host) Runtime() driver.Runtime {
	return driver.Runtime{Clock: h.client.clock}
}

// NewOp implements scenarios.Host: no two clients have the same.
func (h *host) NewOp() int {
	h.ops++
	return (h.ops-1)*h.client.Clients + h.client.Index + 1
}

// Record implements scenarios.Host. A release ends the client's belief before it is called.
func (h *host) Record(events ...history.Event) {
	var notices []notice
	for i := range events {
		e := &events[i]
		if e.Kind == history.Call && e.Func == history.Release {
			h.client.tell(notice{Belief: &belief{Grant: e.Grant, Resource: e.Resource}})
		}
		e.Span = scaled(e.Span, h.client.Speed)
		notices = append(notices, notice{Event: e})
	}
	h.client.tell(notices...)
}

// Believe implements scenarios.Host. The parent knows when the window ends.
func (h *host) Believe(grants []scenarios.Grant, until time.Time, _ func()) (stop func()) {
	for _, g := range grants {
		h.client.tell(notice{Belief: &belief{Grant: g.Op, Until: h.client.clock.reading(until), Resource: g.Resource}})
	}
	return nil
}

// Attempt implements scenarios.Host. The machine's random bytes are not chosen per attempt.
func (h *host) Attempt(int, int) {}

// Access implements scenarios.Host. The outcome is unknown if the connection broke.
func (h *host) Access(_, _ int, e history.Event) history.Event {
	e.Process = h.Name()
	h.Leave()
	done, err := accessStorage(h.client.Storage, e)
	h.Enter()
	if err != nil {
		e.Outcome = history.Unknown
		return e
	}
	return done
}

// Stuck implements scenarios.Host.
func (h *host) Stuck() bool { return h.stuck.Load() }

// Dead implements scenarios.Host: nothing of a killed process goes on.
func (h *host) Dead() bool { return false }
