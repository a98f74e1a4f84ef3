package timeline

import (
	"slices"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// forever is the end of what does not end.
const forever = Instant(kernel.Forever)

// recorder reads the events of a run and writes down what a history leaves out: messages, keys on nodes, and the state of
// processes, clocks and links. All lists are in the order in which things began.
type recorder struct {
	kernel    *kernel.Kernel
	redis     *redis.Deployment
	processes []*kernel.Process // that are no nodes

	messages  []message
	kept      []kept
	states    []state // each process has one at the start
	obstacles []obstacle

	// underWay are the messages of each part of an exchange, by their places. An exchange can be refused twice: when the server
	// stops, and when its request arrives there.
	underWay map[part][]int
	last     map[string]int // the last state of each process, by its place
	keeps    map[*redis.Server][]keptNow
	owners   map[redis.Record]string // who gave a key its value last, whatever its deadline is
	inForce  map[obstructed]int      // obstacles, by their places
}

// message is one message between two processes.
type message struct {
	kind     network.MessageKind
	from, to string
	// purpose says what the exchange is for: an operation of the library, a Redis command, what is done to the storage.
	// Empty if nobody knows.
	purpose string
	// ended is when its fate was settled; forever for a message that is under way.
	sent, ended Instant
	fate        network.Fate
	// why says what a lost message was lost to, and how much arrived of one that arrived in part; empty for the others.
	why string
}

// kept is a key on a node for a stretch in which its value, its deadline and the node's clock stay as they are.
type kept struct {
	node, key, value string
	// owner is the process whose request gave the key this value; for what came from a disk or a master, who gave it there.
	owner    string
	from, to Instant
	// left is how long the key has to live by the node's wall clock, which runs rate parts per billion fast; zero for a key
	// without a time to live.
	left time.Duration
	rate int64
	// isCopy: the node was a replica, whose keys nobody asks for.
	isCopy bool
}

// state is what keeps a process from running, if anything does, and its clocks, until its next state.
type state struct {
	process string
	kind    SpanKind
	Reading
}

// obstacle is what faults do to the messages of a link in one direction. Between nodes, the client is the one that sends
// requests. by is the delay that is added.
type obstacle struct {
	kind           SpanKind
	client, server string
	direction      network.Direction
	from, to       Instant
	by             time.Duration
}

// part is a message or what stands for it: one of the parts of an exchange.
type part struct {
	exchange *network.Exchange
	kind     network.MessageKind
}

// keptNow is a key that a node keeps, its place in kept, and when it expires if nothing happens.
type keptNow struct {
	redis.Record
	place int
	ends  Instant
}

type obstructed struct {
	link      *network.Link
	direction network.Direction
	kind      SpanKind
}

// record makes a run once more to see what its history leaves out. Nil for a run on tier live, which cannot be made again.
func record(r *verdict.Result) (rec *recorder, err error) {
	if r.Tier == scenarios.Live {
		return nil, nil
	}
	err = r.Again(func(w *sim.World) {
		rec = newRecorder(w.Kernel, w.Deployment, append([]*kernel.Process{w.Storage.Process}, w.Clients...))
	})
	if err == nil {
		rec.expire()
	}
	return rec, err
}

// newRecorder records from now on: the nodes, and the other processes in this order.
func newRecorder(k *kernel.Kernel, d *redis.Deployment, processes []*kernel.Process) *recorder {
	r := &recorder{kernel: k, redis: d, processes: processes, underWay: map[part][]int{}, last: map[string]int{},
		keeps: map[*redis.Server][]keptNow{}, owners: map[redis.Record]string{}, inForce: map[obstructed]int{}}
	trace.On(k.Events, r.sent)
	trace.On(k.Events, r.ended)
	trace.On(k.Events, func(e kernel.StateChanged) { r.changed(e.Clock()) })
	trace.On(k.Events, func(e kernel.ClockMoved) { r.changed(e.Clock) })
	trace.On(k.Events, func(e redis.ServerChanged) { r.changed(e.Clock()) })
	trace.On(k.Events, r.restarted)
	trace.On(k.Events, func(e redis.Executed) { r.keys(e.Server, e.Client.Name()) })
	trace.On(k.Events, r.obstructed)
	r.changed(nil)
	return r
}

func (r *recorder) now() Instant { return Instant(r.kernel.Now()) }

// restarted has a process recorded in the place of the crashed one of the same name.
func (r *recorder) restarted(p kernel.Restarted) {
	r.processes[slices.IndexFunc(r.processes, func(before *kernel.Process) bool { return before.Name() == p.Name() })] = p.Process
	r.changed(p.Clock())
}

func (r *recorder) sent(e network.Sent) {
	x := e.Exchange
	m := message{kind: e.Kind, from: x.Link().Server().Name(), to: x.From().Name(), sent: r.now(), ended: forever}
	if e.Kind == network.RequestMessage {
		m.from, m.to = m.to, m.from
	}
	if p, ok := x.Client().(network.Purposeful); ok {
		m.purpose = p.Purpose()
	}
	p := part{x, e.Kind}
	r.underWay[p] = append(r.underWay[p], len(r.messages))
	r.messages = append(r.messages, m)
}

func (r *recorder) ended(e network.Ended) {
	p := part{e.Exchange, e.Kind}
	places := r.underWay[p]
	switch len(places) {
	case 0:
		return // a client was told by its own machine, without a message
	case 1:
		delete(r.underWay, p)
	default:
		r.underWay[p] = places[1:]
	}
	m := &r.messages[places[0]]
	m.ended, m.fate, m.why = r.now(), e.Fate, e.Why
}

// presences are what nodes do not do, by how their machines meet a request.
var presences = map[network.Presence]SpanKind{network.Refusing: downSpan, network.Silent: offSpan}

// changed writes down what is new of the process that has a clock, and of its keys if it is a node; of all processes if the
// clock is nil.
func (r *recorder) changed(c *kernel.Clock) {
	for _, s := range r.redis.All() {
		if c == nil || s.Clock() == c {
			r.state(s.Process, presences[s.Presence()])
			r.keys(s, "")
		}
	}
	for _, p := range r.processes {
		if c == nil || p.Clock() == c {
			r.state(p, "")
		}
	}
}

// state takes the kind for granted if the process is not paused.
func (r *recorder) state(p *kernel.Process, kind SpanKind) {
	now, c := r.kernel.Now(), p.Clock()
	switch {
	case p.Dead():
		kind = crashedSpan
	case c.Suspended():
		kind = suspendedSpan
	case p.Paused():
		kind = pausedSpan
	}
	s := state{p.Name(), kind, Reading{At: Instant(now), Wall: int64(c.Wall() - kernel.Epoch - kernel.Wall(now)),
		Mono: int64(c.Mono()) - int64(now), Rate: c.Rate(), Stopped: kind == suspendedSpan}}
	i, known := r.last[s.process]
	if known {
		was := &r.states[i]
		elapsed := int64(s.At - was.At)
		wandered := kernel.Scale(elapsed, 1e9+was.Rate, 1e9) - elapsed
		// The reading of a clock is rounded down, so that two may differ by a nanosecond more than the time between them.
		by := s.Wall - was.Wall - wandered
		if s.kind == was.kind && s.Rate == was.Rate && -1 <= by && by <= 1 {
			return
		}
		if was.At == s.At {
			*was = s
			return
		}
	}
	r.last[s.process] = len(r.states)
	r.states = append(r.states, s)
}

func (r *recorder) obstructed(e network.ObstaclesChanged) {
	for _, d := range []network.Direction{network.Requests, network.Replies} {
		cut, held, delay := e.Link.Obstacles(d)
		r.obstacle(obstructed{e.Link, d, cutSpan}, cut, 0)
		r.obstacle(obstructed{e.Link, d, heldSpan}, held, 0)
		r.obstacle(obstructed{e.Link, d, slowSpan}, delay > 0, delay)
	}
}

func (r *recorder) obstacle(o obstructed, is bool, by time.Duration) {
	i, known := r.inForce[o]
	if known && is && r.obstacles[i].by == by {
		return
	}
	if known {
		r.obstacles[i].to = r.now()
		delete(r.inForce, o)
	}
	if is {
		r.inForce[o] = len(r.obstacles)
		r.obstacles = append(r.obstacles, obstacle{o.kind, o.link.Client().Name(), o.link.Server().Name(), o.direction, r.now(), forever, by})
	}
}

// expire ends the keys whose time has run out.
func (r *recorder) expire() {
	for _, s := range r.redis.All() {
		r.keeps[s] = slices.DeleteFunc(r.keeps[s], func(k keptNow) bool {
			if k.ends > r.now() {
				return false
			}
			r.kept[k.place].to = k.ends
			return true
		})
	}
}

// keys compares what a node keeps with what was last written down of it, after a request of a process if by names one.
func (r *recorder) keys(s *redis.Server, by string) {
	r.expire()
	before, clock := r.keeps[s], s.Clock()
	var after []keptNow
	for _, record := range s.Dump() {
		k := keptNow{Record: record, place: len(r.kept), ends: forever}
		is := kept{node: s.Name(), key: record.Key, value: record.Value, from: r.now(), to: forever,
			rate: clock.Rate(), isCopy: s.IsReplica()}
		if record.ExpiresAt != 0 {
			ends := kernel.Wall((record.ExpiresAt + 1) * int64(time.Millisecond))
			k.ends, is.left = Instant(clock.WhenWall(ends)), time.Duration(ends-clock.Wall())
		}
		if i := slices.IndexFunc(before, func(b keptNow) bool { return b.Key == record.Key }); i >= 0 {
			b := before[i]
			was := &r.kept[b.place]
			if b.Record == record && b.ends == k.ends && was.rate == is.rate && was.isCopy == is.isCopy {
				after = append(after, b)
				continue
			}
			if b.Value == record.Value {
				is.owner = was.owner
			}
		}
		if by := r.owner(record, by); is.owner == "" {
			is.owner = by
		}
		r.kept, after = append(r.kept, is), append(after, k)
	}
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a keptNow) bool { return a.place == b.place }) {
			r.kept[b.place].to = r.now()
		}
	}
	r.keeps[s] = after
}

// owner is who gave a key its value: a process whose request has just done so, or the last one that did, where the value
// came from a disk or a master.
func (r *recorder) owner(record redis.Record, by string) string {
	record.ExpiresAt = 0
	if by != "" {
		r.owners[record] = by
	}
	return r.owners[record]
}
