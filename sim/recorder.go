package sim

import (
	"slices"
	"time"
)

// recorder writes a Recording. A world that is not recorded has none.
type recorder struct {
	world *World
	out   Recording

	// messages are those under way of each part of an exchange, as places in out.Messages. An exchange can be refused twice:
	// when the server stops, and when its request arrives there.
	messages  map[delivery][]int
	exchanges map[*Exchange]int // their numbers
	opened    int               // how many there were
	states    map[*Process]int  // the last of each, as places in out.States
	kept      map[*Server][]keptNow
	owners    map[Record]string // who gave a key its value last, whatever its deadline is
	obstacles map[obstacle]int  // those in force, as places in out.Obstacles
}

// keptNow is a key that a node keeps.
type keptNow struct {
	Record
	place int  // in out.Kept
	ends  True // when it expires if nothing happens
}

type obstacle struct {
	link      *Link
	direction Direction
	kind      ObstacleKind
}

func newRecorder(w *World) *recorder {
	r := &recorder{world: w, messages: map[delivery][]int{}, exchanges: map[*Exchange]int{}, states: map[*Process]int{},
		kept: map[*Server][]keptNow{}, owners: map[Record]string{}, obstacles: map[obstacle]int{}}
	r.look()
	return r
}

// Recording is what has been recorded so far; nil unless the world was asked to.
func (w *World) Recording() *Recording {
	if w.Kernel.recorder == nil {
		return nil
	}
	w.Kernel.recorder.expire()
	return &w.Kernel.recorder.out
}

// sent writes down that a message is on its way.
func (r *recorder) sent(x *Exchange, part int) {
	if part == partRequest || r.exchanges[x] == 0 {
		r.opened++
		r.exchanges[x] = r.opened
	}
	m := Message{Kind: [...]MessageKind{partRequest: RequestMessage, partReply: ReplyMessage, partReset: RefusalMessage}[part],
		From: x.link.server.name, To: x.link.client.name, Exchange: r.exchanges[x], Sent: r.world.Kernel.now, Ended: Forever}
	if part == partRequest {
		m.From, m.To = m.To, m.From
	}
	if p, ok := x.end.(Purposeful); ok {
		m.Purpose = p.Purpose()
	}
	d := delivery{x, part}
	r.messages[d] = append(r.messages[d], len(r.out.Messages))
	r.out.Messages = append(r.out.Messages, m)
}

// ended writes down what became of a message.
func (r *recorder) ended(x *Exchange, part int, fate Fate, why string) {
	d := delivery{x, part}
	places := r.messages[d]
	switch len(places) {
	case 0:
		return // a client was told by its own machine, without a message
	case 1:
		delete(r.messages, d)
	default:
		r.messages[d] = places[1:]
	}
	m := &r.out.Messages[places[0]]
	m.Ended, m.Fate, m.Why = r.world.Kernel.now, fate, why
}

// dropped writes down that messages were lost with the process in whose socket buffers they were.
func (r *recorder) dropped(all []deferred, why string) {
	for _, d := range all {
		if m, ok := d.handler.(delivery); ok {
			r.ended(m.exchange, m.part, Lost, why)
		}
	}
}

// look compares the processes, the links and all nodes' keys with what was last written down of them.
func (r *recorder) look() {
	w := r.world
	r.expire()
	for _, s := range w.allServers() {
		r.lookAtState(s.Process, [...]Condition{listening: Running, refusing: Down, silent: Off}[s.state])
		r.lookAtKeys(s, "")
	}
	r.lookAtState(w.Storage.Process, Running)
	for _, c := range w.Clients {
		r.lookAtState(c, Running)
	}
	w.Network.Each(func(l *Link) {
		r.lookAtWay(l, Requests, &l.request)
		r.lookAtWay(l, Replies, &l.reply)
	})
}

// lookAtState takes the condition of a node for granted if its process is not paused.
func (r *recorder) lookAtState(p *Process, condition Condition) {
	now, c := r.world.Kernel.now, p.clock
	switch {
	case p.dead:
		condition = Crashed
	case c.suspended:
		condition = Suspended
	case p.paused:
		condition = Paused
	}
	s := State{Process: p.name, At: now, Condition: condition, Wall: time.Duration(c.Wall() - Epoch - Wall(now)),
		Mono: time.Duration(c.Mono()) - time.Duration(now), Rate: c.rate}
	i, known := r.states[p]
	if known {
		was := &r.out.States[i]
		elapsed := now.Sub(was.At)
		wandered := time.Duration(scale(int64(elapsed), billion+was.Rate, billion)) - elapsed
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
	r.states[p] = len(r.out.States)
	r.out.States = append(r.out.States, s)
}

func (r *recorder) lookAtWay(l *Link, d Direction, w *way) {
	for kind, is := range [...]bool{Cut: w.cuts > 0, Held: w.holds > 0, Delayed: w.delays > 0} {
		this := obstacle{l, d, ObstacleKind(kind)}
		i, known := r.obstacles[this]
		var by time.Duration
		if this.kind == Delayed {
			by = w.delays
		}
		if known && is && r.out.Obstacles[i].By == by {
			continue
		}
		if known {
			r.out.Obstacles[i].To = r.world.Kernel.now
			delete(r.obstacles, this)
		}
		if is {
			r.obstacles[this] = len(r.out.Obstacles)
			r.out.Obstacles = append(r.out.Obstacles, Obstacle{Kind: this.kind, Client: l.client.name, Server: l.server.name,
				Direction: d, From: r.world.Kernel.now, To: Forever, By: by})
		}
	}
}

// expire ends the keys whose time has run out.
func (r *recorder) expire() {
	now := r.world.Kernel.now
	for _, s := range r.world.allServers() {
		r.kept[s] = slices.DeleteFunc(r.kept[s], func(k keptNow) bool {
			if k.ends > now {
				return false
			}
			r.out.Kept[k.place].To = k.ends
			return true
		})
	}
}

// lookAtKeys compares what a node keeps with what was last written down of it, after a request of a process.
func (r *recorder) lookAtKeys(s *Server, by string) {
	r.expire()
	now := r.world.Kernel.now
	before, isCopy := r.kept[s], s.replication.master != nil
	var after []keptNow
	for _, record := range s.Dump() {
		k := keptNow{Record: record, ends: Forever}
		if record.ExpiresAt != 0 {
			k.ends = s.clock.WhenWall(Wall((record.ExpiresAt + 1) * int64(time.Millisecond)))
		}
		i := slices.IndexFunc(before, func(b keptNow) bool { return b.Key == record.Key })
		if i >= 0 {
			was := &r.out.Kept[before[i].place]
			if before[i].Record == record && before[i].ends == k.ends && was.Rate == s.clock.rate && was.Copy == isCopy {
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
			left = time.Duration(Wall((record.ExpiresAt+1)*int64(time.Millisecond)) - s.clock.Wall())
		}
		r.out.Kept = append(r.out.Kept, Kept{Node: s.name, Key: record.Key, Value: record.Value, Owner: owner,
			From: now, To: Forever, Left: left, Rate: s.clock.rate, Copy: isCopy})
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
func (r *recorder) owner(record Record, by string) string {
	record.ExpiresAt = 0
	if by != "" {
		r.owners[record] = by
	}
	return r.owners[record]
}
