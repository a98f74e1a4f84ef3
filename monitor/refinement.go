package monitor

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/spec"
)

// refinement has every client of the shipped library followed by the specification of Redlock: what the library does must be
// something that the specification allows.
type refinement struct {
	run      *Run
	settings spec.Settings
	clients  map[*kernel.Process]*spec.Client // nil of one that was objected to
	calls    []*protocols.Call                // those open that ask for a TTL
}

func newRefinement(r *Run) Monitor {
	if !protocols.Has[protocols.RedlockSettings](r.Lock) {
		return nil
	}
	own := protocols.Of[protocols.RedlockSettings](r.Lock)
	quorum, _ := r.Lock.Votes(len(r.World.Servers))
	return &refinement{run: r, clients: map[*kernel.Process]*spec.Client{}, settings: spec.Settings{
		Nodes: len(r.World.Servers), Quorum: quorum, NodeTimeout: r.Lock.NodeTimeout,
		Drift: func(ttl time.Duration) time.Duration {
			return time.Duration(own.Drift.Factor.Ratio().Mul(decimal.NewFromInt(int64(ttl))).Ceil().IntPart()) + own.Drift.Constant
		},
		RetryMin: own.RetryDelay.Min, RetryMax: own.RetryDelay.Max, WakeUp: own.WakeUp != 0, Fencing: own.Fencing}}
}

// Saw implements Monitor.
func (f *refinement) Saw(e *history.Event) {
	if e.Kind == history.Crash {
		delete(f.clients, f.run.World.Client(e.Process))
	}
}

// Over implements Monitor.
func (f *refinement) Over() {}

// Applied implements Monitor.
func (f *refinement) Applied(redis.Applied) {}

// Called implements protocols.Witness.
func (f *refinement) Called(c *protocols.Call) {
	if c.Func == protocols.AcquireCall {
		f.calls = append(f.calls, c)
	}
}

// Returned implements protocols.Witness.
func (f *refinement) Returned(c *protocols.Call, _ error) {
	f.calls = slices.DeleteFunc(f.calls, func(open *protocols.Call) bool { return open == c })
}

// Observed implements protocols.Witness.
func (f *refinement) Observed(client string, e observe.Event) {
	p := f.run.World.Client(client)
	if p.Dead() { // it may be ended in the middle of what happens at a step
		return
	}
	c, known := f.clients[p]
	if !known {
		c = spec.New(f.settings)
		f.clients[p] = c
	}
	if c == nil {
		return
	}
	if err := c.Follow(spec.Event{Event: e, At: p.ProgramClock().Now(), TTLs: f.ttls(client, &e)}); err != nil {
		resource, _, _ := strings.Cut(e.Resource, ", ")
		f.run.broken(checker.Refinement, resource, "%s takes a step that the specification does not allow: %v", client, err)
		f.clients[p] = nil
	}
}

// ttls are those that a step may be about.
func (f *refinement) ttls(client string, e *observe.Event) []time.Duration {
	if e.Step != observe.AttemptStarted {
		return nil
	}
	var all []time.Duration
	for _, c := range f.calls {
		if c.Client == client && strings.Join(slices.Sorted(slices.Values(c.Resources)), ", ") == e.Resource {
			all = append(all, c.TTL)
		}
	}
	return all
}
