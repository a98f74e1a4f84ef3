package faults

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim"
)

// Limits are what faults are drawn within.
type Limits struct {
	// Names are the processes.
	Names Names
	// Budget is not exceeded, unless Beyond is set.
	Budget Budget
	// Beyond has sizes drawn as if there was no budget, in proportion to Scale.
	Beyond bool
	// Scale is the lock's time to live: faults of about that size are those that can break it.
	Scale time.Duration
	// Persistence is what nodes write to their disks.
	Persistence sim.Persistence
	// Fenced says that nodes keep fencing counters.
	Fenced bool
	// Focus are processes that the fault strikes as often as all others together, if there are any: the client whose step
	// decides when, or the nodes, when something happens to several at once.
	Focus []string
}

// Minimum durations: faults that are over before a message has travelled are noise.
const (
	minOutage = 100 * time.Millisecond
	minStill  = 10 * time.Millisecond
)

// upTo draws a size of at least min. There is none if the budget allows none.
func (l *Limits) upTo(c Choices, min, budget time.Duration) (time.Duration, bool) {
	if l.Beyond {
		budget = 3 * l.Scale
	}
	if budget <= 0 {
		return 0, false
	}
	return Length(c, min.Abs(), max(min, budget)), budget >= min
}

func (l *Limits) process(c Choices) string { return l.focused(c, "process", l.Names.all()) }
func (l *Limits) client(c Choices) string  { return l.focused(c, "client", l.Names.Clients) }
func (l *Limits) node(c Choices) string    { return OneOf(c.For("node", 0), l.Names.Nodes...) }

// focused is one of the names, preferably in Focus.
func (l *Limits) focused(c Choices, what string, names []string) string {
	one := OneOf(c.For(what, 0), names...)
	if len(l.Focus) > 0 && c.For("is in focus", 0).Below(2) == 1 {
		if in := OneOf(c.For(what, 1), l.Focus...); slices.Contains(names, in) {
			return in
		}
	}
	return one
}

// links draws one client's links or several's, to some nodes, to all, or to the storage.
func (l *Limits) links(c Choices) Links {
	var links Links
	switch c.For("which clients", 0).Below(4) {
	case 0:
	case 1:
		links.Clients = []string{l.client(c)}
	default:
		links.Clients = Some(c.For("clients", 0), l.Names.Clients)
	}
	switch c.For("which nodes", 0).Below(6) {
	case 0:
	case 1:
		links.Nodes = []string{sim.StorageName}
	default:
		links.Nodes = Some(c.For("nodes", 0), l.Names.Nodes)
	}
	links.Direction.Direction = OneOf(c.For("direction", 0), sim.Both, sim.Requests, sim.Replies)
	return links
}

func drawClockStep(c Choices, l *Limits) Fault {
	by, ok := l.upTo(c.For("by", 0), time.Millisecond, l.Budget.ClockStep)
	if !ok {
		return nil
	}
	if c.For("back", 0).Below(3) == 1 {
		by = -by
	}
	return &ClockStep{Process: l.process(c), By: by}
}

// beyondRate is how wrong the worst of clocks are: Kleppmann's and antirez's examples stay below.
const beyondRate = sim.MaxRate / 2

func drawClockRate(c Choices, l *Limits) Fault {
	limit := l.Budget.ClockRate.PPB()
	if l.Beyond {
		limit = beyondRate
	}
	if limit <= 0 {
		return nil
	}
	ppb := limit
	if c.For("worst", 0).Below(2) == 1 {
		ppb = 1 + c.For("ppb", 0).Below(limit)
	}
	if c.For("slow", 0).Below(2) == 1 {
		ppb = -ppb
	}
	r := &ClockRate{Process: l.process(c), Rate: RateOf(decimal.New(ppb, -9))}
	if c.For("ends", 0).Below(2) == 1 {
		r.For = Length(c.For("for", 0), minOutage, 3*l.Scale)
	}
	return r
}

func drawPartition(c Choices, l *Limits) Fault {
	p := &Partition{Links: l.links(c)}
	if c.For("for good", 0).Below(8) != 7 {
		p.For = Length(c.For("for", 0), minOutage, 2*l.Scale)
	}
	return p
}

func drawHold(c Choices, l *Limits) Fault {
	length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Delay)
	if !ok {
		return nil
	}
	return &Hold{Links: l.links(c), For: length}
}

func drawDelay(c Choices, l *Limits) Fault {
	by, ok := l.upTo(c.For("by", 0), time.Millisecond, l.Budget.Delay)
	if !ok {
		return nil
	}
	return &Delay{Links: l.links(c), By: by, For: Length(c.For("for", 0), minOutage, 2*l.Scale)}
}

func drawReset(c Choices, l *Limits) Fault { return &Reset{Links: l.links(c)} }

// outage draws how long a node stays down: for good, or for a time that is short only if it keeps its memory, or the
// budget allows it to lose it.
func (l *Limits) outage(c Choices, keeps bool) Outage {
	o := Outage{Node: l.node(c)}
	least := time.Duration(0)
	if !keeps && !l.Beyond {
		var comesBack bool
		if least, comesBack = l.Budget.Away(l.Fenced); !comesBack {
			return o
		}
	}
	if c.For("for good", 0).Below(8) != 7 {
		after := Length(c.For("restart", 0), least, least+l.Scale)
		o.RestartAfter = &after
	}
	return o
}

func drawKill(c Choices, l *Limits) Fault {
	return &Kill{l.outage(c, l.Persistence != sim.NoPersistence)}
}

func drawPowerLoss(c Choices, l *Limits) Fault {
	if l.Budget.NoPowerLoss && !l.Beyond {
		return nil
	}
	return &PowerLoss{l.outage(c, l.Persistence == sim.Always)}
}

func drawShutdown(c Choices, l *Limits) Fault {
	return &Shutdown{l.outage(c, l.Persistence != sim.NoPersistence)}
}

// drawRestart draws a restart of a node that is down, whenever it went down: no budget can be kept.
func drawRestart(c Choices, l *Limits) Fault {
	if !l.Beyond {
		return nil
	}
	return &Restart{Node: l.node(c)}
}

// drawPromote draws a promotion: an asynchronous replica may lack anything, which no budget but a spare loss of memory
// covers.
func drawPromote(c Choices, l *Limits) Fault {
	if !l.Beyond && (l.Budget.MemoryLoss == 0 || l.Fenced && l.Budget.CounterLoss == 0) {
		return nil
	}
	var masters []string
	for _, name := range l.Names.Nodes {
		if len(l.Names.Replicas[name]) > 0 {
			masters = append(masters, name)
		}
	}
	if masters == nil {
		return nil
	}
	p := &Promote{Node: OneOf(c.For("node", 0), masters...)}
	p.Replica = OneOf(c.For("replica", 0), l.Names.Replicas[p.Node]...)
	p.Clients = Some(c.For("told", 0), l.Names.Clients)
	return p
}

func drawPause(c Choices, l *Limits) Fault {
	length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Pause)
	if !ok {
		return nil
	}
	return &Pause{Process: l.process(c), For: length}
}

func drawSuspend(c Choices, l *Limits) Fault {
	length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Suspend)
	if !ok {
		return nil
	}
	return &Suspend{Client: l.client(c), For: length}
}

func drawResume(c Choices, l *Limits) Fault { return &Resume{Process: l.process(c)} }
func drawStuck(c Choices, l *Limits) Fault  { return &Stuck{Client: l.client(c)} }
func drawCrash(c Choices, l *Limits) Fault  { return &Crash{Client: l.client(c)} }
