package attacks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"
	"redlocksim/sim/trace"
)

// last asks when all is over that keeps the holder from the end of a call.
const last = "client-4"

// between comes to the holder at each request that a call of its lock sends to nodes: the request or its answer is lost or held
// up, or the client stands still before it reads the answer, until the lease is over. A call that is one command does no harm
// then; one that looks at the key in one command and changes it in the next takes the lock from the client that has it by then.
// When it sends what is seen in a run without faults.
//
// A second client asks at that moment, a rival as soon as nodes let go of the lock, and a last one when it is over.
func between(s *Settings) (built []*scenarios.Scenario) {
	calls, failed := s.calls()
	for _, c := range calls {
		for _, at := range c.sent {
			built = append(built, s.cameBetween(c, at)...)
		}
	}
	switch {
	case failed != nil:
		built = append(built, failed)
	case built == nil: // nothing that the lock does is seen
		built = append(built, s.calling(&call{}).Scenario)
	}
	return built
}

// call is something that the holder does with its lock.
type call struct {
	fn history.Func
	// steps are those after which it is over.
	steps []scenarios.Step
	// left is for how long nodes keep the lock when it begins, at the most.
	left time.Duration
	// sent is when it sends something to nodes, counted from its begin.
	sent []time.Duration
}

// itself is the call of a lock that renews itself: whatever it sends while it has the lock.
const itself history.Func = "renew"

// begins is the event with which a call begins.
func (c *call) begins() *faults.Moment {
	if c.fn == itself {
		return &faults.Moment{Client: holder, Event: "acquire-done"}
	}
	return &faults.Moment{Client: holder, Event: string(c.fn) + "-called"}
}

// calls are those of the lock that send something. The holder extends and releases as late as it believes in its lease, or as
// late as it still sends something. failed is a run that cannot be made; nil if all can.
func (s *Settings) calls() (all []*call, failed *scenarios.Scenario) {
	ttl, believed := s.Lock.TTL+2*redisTick, time.Duration(0)
	sends := func(ways ...*call) {
		for _, c := range ways {
			b := s.calling(c)
			if failed != nil || unable(b.Scenario, s.options) != nil {
				return
			}
			seen, err := b.watched()
			if err != nil {
				failed = b.Scenario
				return
			}
			if c.sent = seen.requests(c); c.sent != nil {
				all, believed = append(all, c), cmp.Or(believed, seen.believed())
				return
			}
		}
	}
	after := func(d time.Duration, fn history.Func, then scenarios.Step, left time.Duration) *call {
		return &call{fn: fn, steps: []scenarios.Step{{Kind: scenarios.SleepStep, For: d}, then}, left: left}
	}
	sends(&call{fn: history.Acquire, left: ttl})
	if s.renewsItself() {
		sends(&call{fn: itself, left: ttl})
		sends(after(s.Lock.TTL/2, history.Release, step(scenarios.UnlockStep), ttl))
		return all, failed
	}
	late := func(fn history.Func, then scenarios.Step) {
		var ways []*call
		for _, d := range []time.Duration{believed - s.calling(&call{}).leeway(), believed * 9 / 10, believed / 2} {
			d = max(d, believed/2)
			ways = append(ways, after(d, fn, then, ttl-d))
		}
		sends(ways...)
	}
	late(history.Extend, scenarios.Step{Kind: scenarios.ExtendStep, For: s.Lock.TTL})
	late(history.Release, step(scenarios.UnlockStep))
	return all, failed
}

// calling begins a scenario in which the holder makes a call, with nothing that goes wrong. Messages take some time, however
// little, so that what a client sends once it has an answer is later than what it asked.
func (s *Settings) calling(c *call) *builder {
	b := newBuilder(s, 0, decimal.Zero, decimal.Zero)
	b.Expect.Reached = slices.DeleteFunc(b.Expect.Reached, func(r scenarios.Reached) bool { return r.Event == "acquire-done" })
	b.Clients = append(b.Clients, rival, last)
	for _, way := range []*scenarios.Latency{&b.Network.Latency, b.Network.Replies} {
		way.Latency = network.Constant(max(way.Max(), 2))
	}
	b.begins(append(slices.Clone(c.steps), b.stays())...)
	b.ends(2 * s.Lock.TTL)
	return b
}

// trip is how long a request and its answer take, and leeway is longer than clients need to ask all nodes, one by one if need
// be, and twice.
func (b *builder) trip() time.Duration {
	return b.Network.Latency.Max() + b.Network.Replies.Max()
}

func (b *builder) leeway() time.Duration {
	return 2*time.Duration(len(b.Nodes.Names)+1)*b.trip() + redisTick
}

// watching is what the holder was seen to do in a run.
type watching struct {
	history.History
	sent []kernel.True // when it sent something to a node
}

// watched runs a scenario. The error is that of the run.
func (b *builder) watched() (*watching, error) {
	seen, o := &watching{}, b.settings.options
	o.Unwatched, o.Unhashed, o.Watch = true, true, func(w *sim.World) {
		trace.On(w.Events, func(e network.Sent) {
			if e.Kind == network.RequestMessage && e.From().Name() == holder && e.Link().Server().Name() != storage.Name && !isAside(e.Exchange) {
				seen.sent = append(seen.sent, w.Kernel.Now())
			}
		})
	}
	r, err := scenarios.Run(b.Scenario, o)
	if err != nil {
		return nil, err
	}
	seen.History = r.History
	return seen, nil
}

// aside are requests that have nothing to do with a lock.
var aside = []string{"connect", "close", "push", "subscribe", "unsubscribe", "HELLO", "AUTH", "CLIENT", "SELECT", "PING"}

func isAside(x *network.Exchange) bool {
	of, is := x.Client().(network.Purposeful)
	if !is {
		return false
	}
	first, _, _ := strings.Cut(of.Purpose(), ",")
	return slices.Contains(aside, first)
}

// when is the time of the first event of the holder of a kind, on a call; false if there is none.
func (w *watching) when(kind history.Kind, fn history.Func) (kernel.True, bool) {
	i := slices.IndexFunc(w.History, func(e history.Event) bool { return e.Process == holder && e.Kind == kind && e.Func == fn })
	if i < 0 {
		return 0, false
	}
	return kernel.True(w.History[i].Time), true
}

// believed is for how long after its grant the holder believes in its lease; 0 if it was not granted the lock.
func (w *watching) believed() time.Duration {
	granted, _ := w.when(history.Return, history.Acquire)
	ended, _ := w.when(history.Expire, "")
	return max(ended.Sub(granted), 0)
}

// requests are the times at which the holder sends something in a call, counted from its begin.
func (w *watching) requests(c *call) (all []time.Duration) {
	from, isMade := w.when(history.Call, c.fn)
	until, returns := w.when(history.Return, c.fn)
	if c.fn == itself {
		from, isMade = w.when(history.Return, history.Acquire)
		until, returns = from.Add(c.left), true
	}
	if !isMade {
		return nil
	}
	for _, at := range w.sent {
		if at >= from && (at <= until || !returns) {
			all = append(all, at.Sub(from))
		}
	}
	return slices.Compact(all)
}

// cameBetween builds the scenarios for a request that is sent so long after a call began.
func (s *Settings) cameBetween(c *call, sent time.Duration) (built []*scenarios.Scenario) {
	build := func(d network.Direction, meddle func(b *builder, on faults.Links, when faults.Trigger, d time.Duration)) {
		b := s.calling(c)
		when := faults.Trigger{After: c.begins(), Plus: sent + 1}
		if d == network.Replies {
			when.Plus += b.Network.Latency.Max()
		}
		// Until the lease is over, and the rival has the lock.
		until := c.left + 2*b.leeway()
		on := b.ofHolder()
		on.Direction = d
		meddle(b, on, when, until)
		b.client(when, second, b.asks(), b.stays())
		b.client(b.free(), rival, b.asks(), b.stays())
		when.Plus += until + 2*b.leeway()
		b.client(when, last, b.asks(), b.stays())
		b.meets(scenarios.Reached{Moment: *c.begins()})
		b.meets(scenarios.Reached{Moment: faults.Moment{Event: "acquire-done", Resource: s.contended(), Nth: 2}})
		b.ends(2 * until)
		built = append(built, b.Scenario)
	}
	for _, d := range []network.Direction{network.Requests, network.Replies} {
		build(d, func(b *builder, on faults.Links, when faults.Trigger, d time.Duration) {
			b.Budget.Delay = max(b.Budget.Delay, d)
			b.fault(when, "hold", &faults.Hold{Links: on, For: d})
		})
		build(d, func(b *builder, on faults.Links, when faults.Trigger, _ time.Duration) {
			b.fault(when, "partition", &faults.Partition{Links: on, For: 1})
		})
	}
	if s.Pause+s.Budget.Suspend > 0 {
		build(network.Replies, func(b *builder, _ faults.Links, when faults.Trigger, d time.Duration) {
			b.stands(when, d)
		})
	}
	return built
}

// stands has the holder stand still for some time, or for as long as it may.
func (b *builder) stands(when faults.Trigger, d time.Duration) {
	paused := min(b.settings.Pause, d)
	if paused > 0 {
		b.fault(when, "pause", &faults.Pause{Process: holder, For: paused})
		when.Plus += paused - 1 // so that the holder does nothing in between
	}
	if asleep := min(b.settings.Budget.Suspend, d-paused); asleep > 0 {
		b.fault(when, "suspend", &faults.Suspend{Client: holder, For: asleep})
	}
}
