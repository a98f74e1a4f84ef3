package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlocksim/history"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// In is a world of the simulator as the ground of faults.
func In(w *sim.World) Ground {
	return &world{in: w, forgotten: map[string]Forgotten{}, voted: map[counter]counted{}}
}

type world struct {
	in        *sim.World
	forgotten map[string]Forgotten // by the nodes that are down
	voted     map[counter]counted  // those set by hand
}

// counter is a fencing counter of a node.
type counter struct{ node, key string }

// counted is what votes had raised a counter to, and to what it was set then.
type counted struct{ votes, set int64 }

func (w *world) Now() kernel.True                { return w.in.Kernel.Now() }
func (w *world) After(d time.Duration, f func()) { w.in.Kernel.After(d, f) }
func (w *world) Record(e history.Event)          { w.in.Record(e) }
func (w *world) Grain() time.Duration            { return 1 }

func (w *world) Clients() []string {
	names := make([]string, len(w.in.Clients))
	for i, c := range w.in.Clients {
		names[i] = c.Name()
	}
	return names
}

func (w *world) Nodes() []string    { return namesOf(w.in.Servers) }
func (w *world) Replicas() []string { return namesOf(w.in.Replicas) }

func namesOf(servers []*redis.Server) []string {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = s.Name()
	}
	return names
}

func (w *world) StepClock(process string, by time.Duration) (matters bool) {
	matters = true
	if s := w.in.Server(process); s != nil && s.Up() && !s.Serves() && len(s.Group()) == 1 {
		matters = slices.ContainsFunc(s.Dump(), func(r redis.Record) bool { return Moves(r, s.Clock().Wall(), by) })
	}
	w.in.Process(process).Clock().Step(by)
	return matters
}
func (w *world) SetClockRate(process string, ppb int64) { w.in.Process(process).Clock().SetRate(ppb) }

func (w *world) AfterWall(node string, d time.Duration, f func()) {
	s := w.in.Server(node)
	w.in.WhenWall(s.Process, s.Clock().Wall()+kernel.Wall(d), f)
}

// each calls f for the links selected, and the directions selected of each, client by client in the world's order.
func (w *world) each(l *Links, f func(*network.Link, network.Direction)) {
	if len(l.Peers) > 0 {
		w.eachOfPeers(l, f)
		return
	}
	clients, nodes := l.Clients, l.Nodes
	if len(clients) == 0 {
		clients = w.Clients()
	}
	if len(nodes) == 0 {
		nodes = append(w.Nodes(), w.Replicas()...)
	}
	for _, c := range clients {
		for _, s := range nodes {
			f(w.in.Network.Link(c, s), l.Direction)
		}
	}
}

// eachOfPeers calls f for the links between nodes, of which each end has one of its own: what goes one way are the
// requests of one link and the replies of the other.
func (w *world) eachOfPeers(l *Links, f func(*network.Link, network.Direction)) {
	there := l.Direction
	back := map[network.Direction]network.Direction{network.Both: network.Both, network.Requests: network.Replies, network.Replies: network.Requests}[there]
	for _, node := range l.Nodes {
		for _, peer := range l.Peers {
			f(w.in.Network.Link(node, peer), there)
			f(w.in.Network.Link(peer, node), back)
		}
	}
}

func (w *world) Lose(l *Links) (undo func()) {
	w.each(l, func(link *network.Link, d network.Direction) { link.Cut(d) })
	return func() { w.each(l, func(link *network.Link, d network.Direction) { link.Mend(d) }) }
}

func (w *world) Hold(l *Links) (undo func() time.Duration) {
	w.each(l, func(link *network.Link, d network.Direction) { link.Hold(d) })
	return func() (longest time.Duration) {
		w.each(l, func(link *network.Link, d network.Direction) { longest = max(longest, link.Release(d)) })
		return longest
	}
}

func (w *world) Slow(l *Links, by time.Duration) (most time.Duration, undo func()) {
	w.each(l, func(link *network.Link, d network.Direction) { most = max(most, link.Delay(d, by)) })
	return most, func() { w.each(l, func(link *network.Link, d network.Direction) { link.Delay(d, -by) }) }
}

func (w *world) Split(l *Links, keep int, reset bool) (undo func(), err error) {
	var mend []func()
	w.each(l, func(link *network.Link, d network.Direction) { mend = append(mend, link.Split(d, keep, reset)) })
	return func() {
		for _, m := range mend {
			m()
		}
	}, nil
}

func (w *world) Reset(l *Links) {
	w.each(l, func(link *network.Link, _ network.Direction) { link.Reset() })
}

func (w *world) Met() bool { return w.in.Network.Met() }

func (w *world) Up(node string) bool { return w.in.Server(node).Up() }

func (w *world) Stop(node string, how Stop) (kernel.True, error) {
	s := w.in.Server(node)
	knew := s.Dump()
	var err error
	switch how {
	case Killed:
		err = s.Kill()
	case PoweredOff:
		err = s.LosePower()
	case ShutDown:
		err = s.Shutdown()
	}
	w.forgotten[node] = Forget(knew, s.OnDisk(), 0)
	return w.Now(), err
}

func (w *world) Start(node string) (Memory, error) {
	s := w.in.Server(node)
	if err := s.Restart(); err != nil {
		return Memory{}, err
	}
	return Memory{w.forgotten[node], len(s.OnDisk()) == 0}, nil
}

func (w *world) LockOf(key string) (resource string, is bool) { return w.in.LockOf(key) }

func (w *world) Evict(node string, goes func(key string) bool) (Forgotten, error) {
	s := w.in.Server(node)
	before := s.Dump()
	s.Evict(goes)
	return Forget(before, s.Dump(), 0), nil
}

func (w *world) Count(node string, to int64) error {
	s := w.in.Server(node)
	if !s.Up() {
		return fmt.Errorf("faults: the counters of %s: it is down", node)
	}
	for _, r := range s.Dump() {
		if !driver.IsTokenKey(r.Key) {
			continue
		}
		votes, _ := strconv.ParseInt(r.Value, 10, 64) // it is a number
		if before, byHand := w.voted[counter{node, r.Key}]; byHand && before.set == votes {
			votes = before.votes
		}
		set := max(to, votes)
		w.voted[counter{node, r.Key}] = counted{votes, set}
		r.Value = strconv.FormatInt(set, 10)
		s.Put(r)
	}
	return nil
}

func (w *world) Guard(node string, maxTTL time.Duration) error {
	s := w.in.Server(node)
	if !s.Up() {
		return fmt.Errorf("faults: the guard's record of %s: it is down", node)
	}
	for _, r := range s.Dump() {
		words := strings.Fields(r.Value) // run id, since, largest TTL
		if r.Key != driver.GuardKey || len(words) != 3 {
			continue
		}
		words[2] = strconv.FormatInt(maxTTL.Milliseconds(), 10)
		if r.Value = strings.Join(words, " "); maxTTL == 0 {
			r.Value = "overwritten"
		}
		s.Put(r)
		return nil
	}
	return fmt.Errorf("faults: %s has no record of the restart guard that can be read", node)
}

func (w *world) Overwrite(node string, is func(key string) bool) error {
	s := w.in.Server(node)
	if !s.Up() {
		return fmt.Errorf("faults: the keys of %s: it is down", node)
	}
	found := false
	for _, r := range s.Dump() {
		if is(r.Key) {
			s.Put(redis.Record{Key: r.Key, Value: overwritten})
			found = true
		}
	}
	if !found {
		return fmt.Errorf("faults: %s has no such key of a lock", node)
	}
	return nil
}

func (w *world) Answer(node string, with Answer) (undo func(), err error) {
	return w.in.Server(node).AnswerWith(with.reply()), nil
}

func (w *world) Promote(node, replica string, clients []string) (Forgotten, error) {
	from, to := w.in.Server(node), w.in.Server(replica)
	var led []*kernel.Process
	for _, name := range clients {
		led = append(led, w.in.Client(name))
	}
	missing := to.Missing(from)
	if err := w.in.Promote(from, to, led); err != nil {
		return Forgotten{}, err
	}
	lacks := Forget(missing, to.Dump(), 0)
	lacks.Any = len(missing) > 0
	return lacks, nil
}

func (w *world) Paused(process string) bool { return w.in.Process(process).Paused() }

func (w *world) Pause(process string) error {
	return w.stopped(process, (*kernel.Process).Pause)
}

func (w *world) Suspend(client string) error {
	return w.stopped(client, (*kernel.Process).Suspend)
}

func (w *world) stopped(process string, how func(*kernel.Process)) error {
	p := w.in.Process(process)
	if p.Dead() {
		return fmt.Errorf("%s has crashed", process)
	}
	if s := w.in.Server(process); s != nil && !s.Up() {
		return fmt.Errorf("%s is down", process)
	}
	how(p)
	return nil
}

func (w *world) WakeClock(process string) { w.in.Process(process).WakeClock() }

func (w *world) Resume(process string) error {
	w.in.Process(process).Resume()
	return nil
}

func (w *world) Hang(client string) { w.in.Client(client).Hang() }

func (w *world) Starve(client string) (undo func(), err error) {
	return w.in.Client(client).Starve(), nil
}

func (w *world) Crash(client string) error   { return w.in.Crash(w.in.Client(client)) }
func (w *world) Restart(client string) error { return w.in.RestartClient(client) }
