//go:build linux

package client

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"

	"github.com/redis/go-redis/v9"

	"redlocksim/live/internal/storageserver"
)

// host is what a client process offers to its programs and their protocol, which are the simulator's. One of them runs at a
// time: the one that has the turn, a mutex. Only the shipped library runs without it, as in production; its calls back wait for
// the turn.
type host struct {
	turn
	role    *Role
	clock   clock
	report  *reporter
	redis   []protocols.Redis
	nodes   []driver.Node
	masters sync.Map // the names of those who were promoted, by the node in whose place
	stuck   atomic.Bool
	ops     int // numbered so far, under the turn
}

// maxOps is more than a client can number before it crashes.
const maxOps = 1 << 20

func newHost(r *Role, clock clock, report *reporter) *host {
	return &host{role: r, clock: clock, report: report, ops: r.Restarts * maxOps}
}

// addNode adds a node to which the client is connected.
func (h *host) addNode(name string, rc *redis.Client) error {
	options := []goredis.Option{goredis.Name(name)}
	if r := h.Runtime(); r.Clock != nil {
		options = append(options, goredis.Runtime(r))
	}
	n, err := goredis.NewNode(rc, options...)
	if err != nil {
		return err
	}
	h.nodes = append(h.nodes, n)
	h.redis = append(h.redis, newConnection(&h.turn, h.clock, name, rc))
	return nil
}

func (h *host) Name() string { return h.role.Name }

func (h *host) LockClock() driver.Clock { return turnClock{h.clock, &h.turn} }

func (h *host) Wall() time.Time { return h.clock.Wall() }

func (h *host) Tasks() driver.Tasks { return turnTasks{&h.turn} }

func (h *host) Rand() io.Reader { return rand.Reader }

func (h *host) Sleep(ctx context.Context, d time.Duration) {
	w := h.Tasks().NewWaiter()
	t := h.clock.AfterFunc(d, w.Wake)
	w.Wait(ctx)
	t.Stop()
}

func (h *host) Scale(d time.Duration) time.Duration { return d / time.Duration(h.role.Speed) }

func (h *host) Redis() []protocols.Redis { return h.redis }

func (h *host) MasterOf(node string) string {
	if by, ok := h.masters.Load(node); ok {
		return by.(string)
	}
	return node
}

func (h *host) Nodes() []driver.Node { return h.nodes }

// Runtime implements protocols.Host. What the library uses in production is left to it.
func (h *host) Runtime() driver.Runtime {
	if h.clock.IsSystem() {
		return driver.Runtime{}
	}
	return driver.Runtime{Clock: h.clock}
}

func (h *host) Sequence() driver.TokenSource { return storageserver.Sequence(h.role.Storage) }

// NewOp implements scenarios.Host: no two clients have the same.
func (h *host) NewOp() int {
	h.ops++
	return (h.ops-1)*h.role.Clients + h.role.Index + 1
}

func (h *host) Record(e history.Event) { h.RecordAll([]history.Event{e}) }

// RecordAll implements scenarios.Host. A release ends the client's belief before it is called.
func (h *host) RecordAll(events []history.Event) {
	var notices []Notice
	for i := range events {
		e := &events[i]
		if e.Kind == history.Call && e.Func == history.Release {
			h.report.tell(Notice{Belief: &Belief{Grant: e.Grant, Resource: e.Resource}})
		}
		e.Span = scaled(e.Span, h.role.Speed)
		notices = append(notices, Notice{Event: e})
	}
	h.report.tell(notices...)
}

// Believe implements scenarios.Host. The parent knows when the window ends.
func (h *host) Believe(grants []scenarios.Grant, until time.Time, _ func()) (stop func()) {
	for _, g := range grants {
		h.report.tell(Notice{Belief: &Belief{Grant: g.Op, Until: h.clock.Reading(until), Resource: g.Resource}})
	}
	return nil
}

// Attempt implements scenarios.Host. The machine's random bytes are not chosen per attempt.
func (h *host) Attempt(int, int) {}

// Access implements scenarios.Host. The outcome is unknown if the connection broke.
func (h *host) Access(_, _ int, e history.Event) history.Event {
	e.Process = h.Name()
	h.Leave()
	done, err := storageserver.Access(context.Background(), h.role.Storage, e)
	h.Enter()
	if err != nil {
		e.Outcome = history.Unknown
		return e
	}
	return done
}

func (h *host) Stuck() bool { return h.stuck.Load() }

// Dead implements scenarios.Host: nothing of a killed process goes on.
func (h *host) Dead() bool { return false }

// scaled converts a length of the machine's time to the scenario's. The longest length stays the longest.
func scaled(span int64, speed int) int64 {
	const longest = 1<<63 - 1
	if span > longest/int64(speed) {
		return longest
	}
	return span * int64(speed)
}
