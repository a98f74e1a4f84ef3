package recording

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// Recorder reads the events of a run, and writes a Recording.
type Recorder struct {
	kernel    *kernel.Kernel
	redis     *redis.Deployment
	processes []*kernel.Process // that are no nodes
	out       Recording

	// messages are those under way of each part of an exchange, as places in out.Messages. An exchange can be refused twice:
	// when the server stops, and when its request arrives there.
	messages  map[part][]int
	exchanges map[*network.Exchange]int // their numbers
	opened    int                       // how many there were
	states    map[string]int            // the last of each process, as places in out.States
	kept      map[*redis.Server][]keptNow
	owners    map[redis.Record]string // who gave a key its value last, whatever its deadline is
	inForce   map[obstacle]int        // obstacles, as places in out.Obstacles
}

// part is a message or what stands for it: one of the parts of an exchange.
type part struct {
	exchange *network.Exchange
	kind     network.MessageKind
}

// keptNow is a key that a node keeps.
type keptNow struct {
	redis.Record
	place int         // in out.Kept
	ends  kernel.True // when it expires if nothing happens
}

type obstacle struct {
	link      *network.Link
	direction network.Direction
	kind      ObstacleKind
}

// Start records the run from now on: its nodes, and the other processes in this order.
func Start(k *kernel.Kernel, d *redis.Deployment, processes []*kernel.Process) *Recorder {
	r := &Recorder{kernel: k, redis: d, processes: processes,
		messages: map[part][]int{}, exchanges: map[*network.Exchange]int{}, states: map[string]int{},
		kept: map[*redis.Server][]keptNow{}, owners: map[redis.Record]string{}, inForce: map[obstacle]int{}}
	trace.On(k.Events, r.sent)
	trace.On(k.Events, r.ended)
	trace.On(k.Events, func(e kernel.StateChanged) { r.changed(e.Clock()) })
	trace.On(k.Events, func(e kernel.ClockMoved) { r.changed(e.Clock) })
	trace.On(k.Events, func(e redis.ServerChanged) { r.changed(e.Clock()) })
	trace.On(k.Events, r.restarted)
	trace.On(k.Events, func(e redis.Served) { r.keys(e.Server, e.Client.Name()) })
	trace.On(k.Events, r.obstructed)
	r.changed(nil)
	return r
}

// restarted has a process recorded in the place of the crashed one of the same name.
func (r *Recorder) restarted(p kernel.Restarted) {
	r.processes[slices.IndexFunc(r.processes, func(before *kernel.Process) bool { return before.Name() == p.Name() })] = p.Process
	r.changed(p.Clock())
}

// Recording is what has been recorded so far.
func (r *Recorder) Recording() *Recording {
	r.expire()
	return &r.out
}

func (r *Recorder) sent(e network.Sent) {
	x, kind := e.Exchange, e.Kind
	if kind == network.RequestMessage || r.exchanges[x] == 0 {
		r.opened++
		r.exchanges[x] = r.opened
	}
	m := Message{Kind: kind, From: x.Link().Server().Name(), To: x.From().Name(), Exchange: r.exchanges[x],
		Sent: r.kernel.Now(), Ended: kernel.Forever}
	if kind == network.RequestMessage {
		m.From, m.To = m.To, m.From
	}
	if p, ok := x.Client().(network.Purposeful); ok {
		m.Purpose = p.Purpose()
	}
	p := part{x, kind}
	r.messages[p] = append(r.messages[p], len(r.out.Messages))
	r.out.Messages = append(r.out.Messages, m)
}

func (r *Recorder) ended(e network.Ended) {
	p := part{e.Exchange, e.Kind}
	places := r.messages[p]
	switch len(places) {
	case 0:
		return // a client was told by its own machine, without a message
	case 1:
		delete(r.messages, p)
	default:
		r.messages[p] = places[1:]
	}
	m := &r.out.Messages[places[0]]
	m.Ended, m.Fate, m.Why = r.kernel.Now(), e.Fate, e.Why
}

// conditions are those of the nodes, by how their machines meet a request.
var conditions = [...]Condition{network.Listening: Running, network.Refusing: Down, network.Silent: Off}

// changed writes down what is new of the process that has a clock, and of its keys if it is a node; of all processes if the
// clock is nil.
func (r *Recorder) changed(c *kernel.Clock) {
	for _, s := range r.redis.All() {
		if c == nil || s.Clock() == c {
			r.state(s.Process, conditions[s.Presence()])
			r.keys(s, "")
		}
	}
	for _, p := range r.processes {
		if c == nil || p.Clock() == c {
			r.state(p, Running)
		}
	}
}

// state takes the condition of a node for granted if its process is not paused.
func (r *Recorder) state(p *kernel.Process, condition Condition) {
	now, c := r.kernel.Now(), p.Clock()
	switch {
	case p.Dead():
		condition = Crashed
	case c.Suspended():
		condition = Suspended
	case p.Paused():
		condition = Paused
	}
	s := State{Process: p.Name(), At: now, Condition: condition, Wall: time.Duration(c.Wall() - kernel.Epoch - kernel.Wall(now)),
		Mono: time.Duration(c.Mono()) - time.Duration(now), Rate: c.Rate()}
	i, known := r.states[s.Process]
	if known {
		was := &r.out.States[i]
		elapsed := now.Sub(was.At)
		wandered := time.Duration(kernel.Scale(int64(elapsed), 1e9+was.Rate, 1e9)) - elapsed
		// The reading of a clock is rounded down, so that two may differ by a nanosecond more than the time between them.
		isStepped := (s.Wall - was.Wall - wandered).Abs() > 1
		if s.Condition == was.Condition && s.Rate == was.Rate && !isStepped {
			return
		}
		if was.At == now {
			r.out.States[i] = s
			return
		}
	}
	r.states[s.Process] = len(r.out.States)
	r.out.States = append(r.out.States, s)
}

func (r *Recorder) obstructed(e network.ObstaclesChanged) {
	for _, d := range []network.Direction{network.Requests, network.Replies} {
		r.obstacles(e.Link, d)
	}
}

func (r *Recorder) obstacles(l *network.Link, d network.Direction) {
	cut, held, delay := l.Obstacles(d)
	for kind, is := range [...]bool{Cut: cut, Held: held, Delayed: delay > 0} {
		this := obstacle{l, d, ObstacleKind(kind)}
		i, known := r.inForce[this]
		var by time.Duration
		if this.kind == Delayed {
			by = delay
		}
		if known && is && r.out.Obstacles[i].By == by {
			continue
		}
		if known {
			r.out.Obstacles[i].To = r.kernel.Now()
			delete(r.inForce, this)
		}
		if is {
			r.inForce[this] = len(r.out.Obstacles)
			r.out.Obstacles = append(r.out.Obstacles, Obstacle{Kind: this.kind, Client: l.Client().Name(), Server: l.Server().Name(),
				Direction: d, From: r.kernel.Now(), To: kernel.Forever, By: by})
		}
	}
}

// expire ends the keys whose time has run out.
func (r *Recorder) expire() {
	now := r.kernel.Now()
	for _, s := range r.redis.All() {
		r.kept[s] = slices.DeleteFunc(r.kept[s], func(k keptNow) bool {
			if k.ends > now {
				return false
			}
			r.out.Kept[k.place].To = k.ends
			return true
		})
	}
}

// keys compares what a node keeps with what was last written down of it, after a request of a process if by names one.
func (r *Recorder) keys(s *redis.Server, by string) {
	r.expire()
	now := r.kernel.Now()
	before, isCopy := r.kept[s], s.IsReplica()
	var after []keptNow
	for _, record := range s.Dump() {
		k := keptNow{Record: record, ends: kernel.Forever}
		if record.ExpiresAt != 0 {
			k.ends = s.Clock().WhenWall(kernel.Wall((record.ExpiresAt + 1) * int64(time.Millisecond)))
		}
		i := slices.IndexFunc(before, func(b keptNow) bool { return b.Key == record.Key })
		if i >= 0 {
			was := &r.out.Kept[before[i].place]
			if before[i].Record == record && before[i].ends == k.ends && was.Rate == s.Clock().Rate() && was.Copy == isCopy {
				after = append(after, before[i])
				continue
			}
		}
		k.place = len(r.out.Kept)
		owner := r.owner(record, by)
		if i >= 0 && before[i].Value == record.Value {
			owner = r.out.Kept[before[i].place].Owner
		}
		var left time.Duration
		if record.ExpiresAt != 0 {
			left = time.Duration(kernel.Wall((record.ExpiresAt+1)*int64(time.Millisecond)) - s.Clock().Wall())
		}
		r.out.Kept = append(r.out.Kept, Kept{Node: s.Name(), Key: record.Key, Value: record.Value, Owner: owner,
			From: now, To: kernel.Forever, Left: left, Rate: s.Clock().Rate(), Copy: isCopy})
		after = append(after, k)
	}
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a keptNow) bool { return a.place == b.place }) {
			r.out.Kept[b.place].To = now
		}
	}
	r.kept[s] = after
}

// owner is who gave a key its value: a process whose request has just done so, or the last one that did, where the value
// came from a disk or a master.
func (r *Recorder) owner(record redis.Record, by string) string {
	record.ExpiresAt = 0
	if by != "" {
		r.owners[record] = by
	}
	return r.owners[record]
}
