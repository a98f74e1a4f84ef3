//go:build linux

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// ErrNoServer is what errors.Is finds in the error of Run on a machine without redis-server.
var ErrNoServer = errors.New("there is no redis-server on the PATH")

// Run runs a scenario against redis-server processes and judges the run: its findings, grants and leaked keys, but no
// durations. Whatever happens, no process and no file is left when it returns; it returns early, with an error that
// matches ctx's, when ctx ends. The error matches ErrUnfit, ErrNoServer or ErrNoCompiler for what cannot be run here,
// and is an internal one otherwise.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (*scenarios.Result, error) {
	if err := Unfit(s); err != nil {
		return nil, err
	}
	out, err := record(ctx, s, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return scenarios.JudgeLive(s, out)
}

// record makes a run.
func record(ctx context.Context, s *scenarios.Scenario, o Options) (out *scenarios.Outcome, err error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrNoServer
	}
	if o.Speed == 0 {
		o.Speed = speedOf(s)
	}
	if o.Client == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		o.Client = []string{self, "live-client"}
	}
	dir, err := os.MkdirTemp("", "redlocksim-live-")
	if err != nil {
		return nil, err
	}
	r := &run{scenario: s, options: o, speed: int64(o.Speed), dir: dir, starter: newStarter(), queue: make(chan func()), over: make(chan struct{}),
		down: map[string]down{}, items: make([]item, len(s.Timeline))}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.setUp(ctx); err != nil {
		return nil, err
	}
	if err := r.play(ctx); err != nil {
		return nil, err
	}
	return r.outcome()
}

// run is a run under way. What happens in it happens on one goroutine, that of play, one thing after the other.
type run struct {
	scenario *scenarios.Scenario
	options  Options
	speed    int64
	start    int64 // CLOCK_MONOTONIC at true time 0
	dir      string

	starter starter
	servers []*server
	storage *storage
	proxies []*proxy
	clients []*player

	queue chan func()
	over  chan struct{} // closed when nothing more happens

	entries  []entry
	items    []item
	agenda   []moment // what is to come, in the order in which it will
	isHealed bool
	inForce  []*remedy
	down     map[string]down
	spent    faults.Spent
	failed   error
}

// moment is something that is to happen when CLOCK_MONOTONIC reads at.
type moment struct {
	at int64
	do func()
}

// item is what became of an item of the timeline.
type item struct {
	seen  int // events that match its moment
	fired bool
	err   error // why its fault could not strike
}

// setUp starts everything.
func (r *run) setUp(ctx context.Context) error {
	s := r.scenario
	preload := ""
	if needsPreload(s) {
		var err error
		if preload, err = compilePreload(r.dir); err != nil {
			return err
		}
	}
	for _, name := range s.Nodes.Names {
		x := &server{name: name, dir: filepath.Join(r.dir, fmt.Sprintf("node-%d", len(r.servers))), persistence: s.Nodes.Persistence.Persistence, starter: r.starter, preload: preload}
		if err := os.Mkdir(x.dir, 0o700); err != nil {
			return err
		}
		if preload != "" {
			var err error
			if x.shared, err = newShared(x.dir + ".shared"); err != nil {
				return err
			}
		}
		r.servers = append(r.servers, x)
		if err := x.launch(ctx); err != nil {
			return err
		}
	}
	var err error
	r.storage, err = newStorage(s.Storage.StorageKind, func(at int64, e history.Event) {
		r.call(func() { r.happened(at, e) })
	})
	if err != nil {
		return err
	}
	text, err := s.Encode()
	if err != nil {
		return err
	}
	links := newProxies()
	for i, name := range s.Clients {
		role := &role{Name: name, Index: i, Clients: len(s.Clients), Scenario: string(text), Speed: r.options.Speed}
		for _, x := range r.servers {
			p, err := links.link(name, x.name, x.addr)
			if err != nil {
				return err
			}
			r.proxies = append(r.proxies, p)
			role.Nodes = append(role.Nodes, p.addr)
		}
		p, err := links.link(name, sim.StorageName, r.storage.listener.Addr().String())
		if err != nil {
			return err
		}
		r.proxies = append(r.proxies, p)
		role.Storage = p.addr
		c, err := r.newPlayer(role)
		if err != nil {
			return err
		}
		r.clients = append(r.clients, c)
	}
	for _, c := range r.clients {
		select {
		case err := <-c.ready:
			if err != nil {
				return err
			}
		case <-time.After(startTimeout):
			return fmt.Errorf("live: %s did not begin within %v", c.name, startTimeout)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if s.Nodes.Persistence.Persistence == sim.EverySecond && preload != "" {
		return r.settleDisks(ctx)
	}
	return nil
}

// settleDisks has every node fsync, so that none does again for the better part of a second: what is written soon after
// is not on disk, as in a world whose first fsync is a second away. Redis looks whether the second of its clock is
// another than at the last fsync, so this is done right after a second has begun.
func (r *run) settleDisks(ctx context.Context) error {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	for _, x := range r.servers {
		before := x.shared.syncs()
		if _, err := ask(x.addr, "SET", "redlocksim:settled", "1", "PX", "1"); err != nil {
			return err
		}
		for deadline := time.Now().Add(startTimeout); x.shared.syncs() == before; {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return errors.Join(fmt.Errorf("live: %s does not fsync", x.name), context.Cause(ctx))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// needsPreload says whether a scenario needs the library that is loaded into redis-server.
func needsPreload(s *scenarios.Scenario) bool {
	for i := range s.Timeline {
		switch f := s.Timeline[i].Fault.(type) {
		case *faults.ClockStep:
			if slices.Contains(s.Nodes.Names, f.Process) {
				return true
			}
		case *faults.PowerLoss:
			if s.Nodes.Persistence.Persistence != sim.NoPersistence {
				return true
			}
		}
	}
	return false
}

// play carries the timeline out, until its end or until nothing more can happen.
func (r *run) play(ctx context.Context) error {
	r.start = trueTime()
	for i := range r.scenario.Timeline {
		if when := r.scenario.Timeline[i].When; when.After == nil {
			r.after(r.start, when.At, func() { r.fire(i) })
		}
	}
	if r.scenario.Heal != nil {
		r.after(r.start, *r.scenario.Heal, r.heal)
	}
	end := r.start + int64(r.scenario.Duration)/r.speed
	for {
		next := end
		if len(r.agenda) > 0 {
			next = min(next, r.agenda[0].at)
		}
		select {
		case f := <-r.queue:
			f()
		case <-time.After(time.Duration(next - trueTime())):
			if next == end {
				return nil
			}
			do := r.agenda[0].do
			r.agenda = r.agenda[1:]
			do()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if r.failed != nil {
			return r.failed
		}
		if r.isOver() {
			return nil
		}
	}
}

// isOver says that nothing more can happen but that keys and leases end: everybody is done, and everything has struck.
func (r *run) isOver() bool {
	for _, c := range r.clients {
		if c.running > 0 {
			return false
		}
	}
	for i := range r.items {
		if !r.items[i].fired {
			return false
		}
	}
	return len(r.agenda) == 0
}

// post has f happen.
func (r *run) post(f func()) {
	select {
	case r.queue <- f:
	case <-r.over:
	}
}

// call has f happen, and returns when it has.
func (r *run) call(f func()) {
	done := make(chan struct{})
	r.post(func() { f(); close(done) })
	select {
	case <-done:
	case <-r.over:
	}
}

// after has f happen a while, in the scenario's time, after a moment; behind what is to happen at the same time.
func (r *run) after(at int64, d time.Duration, f func()) {
	at += int64(d) / r.speed
	i, _ := slices.BinarySearchFunc(r.agenda, at+1, func(m moment, at int64) int { return cmp.Compare(m.at, at) })
	r.agenda = slices.Insert(r.agenda, i, moment{at, f})
}

// happened takes an event down and has the timeline do what it does at it.
func (r *run) happened(at int64, e history.Event) {
	r.entries = append(r.entries, entry{at: at, process: e.Process, event: &e})
	for i := range r.scenario.Timeline {
		when, x := r.scenario.Timeline[i].When, &r.items[i]
		if when.After == nil || !matches(when.After, &e) {
			continue
		}
		x.seen++
		nth := max(when.After.Nth, 1)
		switch {
		case x.seen < nth || x.seen > nth && !when.Every:
		case when.Plus > 0:
			r.after(at, when.Plus, func() { r.fire(i) })
		default:
			r.fire(i)
		}
	}
}

// fire does what an item of the timeline says.
func (r *run) fire(i int) {
	it, x := &r.scenario.Timeline[i], &r.items[i]
	if it.Fault == nil {
		if c := r.client(it.Client); c.process != nil {
			x.fired = true
			c.running++
			c.send(order{Run: i + 1})
		}
		return
	}
	was := x.fired
	x.fired = true
	if r.isHealed {
		if !was {
			x.err = faults.ErrHealed
		}
		return
	}
	x.err = r.strike(it.Fault)
}

func (r *run) client(name string) *player {
	for _, c := range r.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (r *run) server(name string) *server {
	for _, s := range r.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// outcome is what the run was, when it is over.
func (r *run) outcome() (*scenarios.Outcome, error) {
	h := merge(r.entries, resource, r.start, int(r.speed), r.scenario.Duration)
	hash := new(history.Hasher)
	for i := range h {
		hash.Add(&h[i])
	}
	out := &scenarios.Outcome{History: h, HistoryHash: hash.Sum(), Spent: r.spent}
	for i, x := range r.items {
		it := &r.scenario.Timeline[i]
		switch {
		case x.fired && x.err == nil:
			continue
		case it.Fault == nil:
			out.Idle = append(out.Idle, fmt.Sprintf("%s, %v: the moment never came", it.Client, it.When))
		case x.err != nil:
			out.Unstruck = append(out.Unstruck, fmt.Sprintf("%v: %v", it.When, x.err))
		default:
			out.Unstruck = append(out.Unstruck, fmt.Sprintf("%v: the moment never came", it.When))
		}
		out.Left = append(out.Left, i)
	}
	for _, s := range r.servers {
		if s.process == nil {
			continue
		}
		if s.paused {
			s.process.signal(sigCont)
		}
		records, err := s.dump()
		if err != nil {
			return nil, err
		}
		if key, ok := records[resource]; ok && key.expires == 0 {
			out.Leaks = append(out.Leaks, scenarios.Leak{Key: resource, Node: s.name})
		}
	}
	return out, nil
}

// close ends whatever has been started and removes the files.
func (r *run) close() error {
	close(r.over)
	var errs []error
	for _, c := range r.clients {
		c.close()
	}
	for _, p := range r.proxies {
		p.close()
	}
	if r.storage != nil {
		r.storage.close()
	}
	for _, s := range r.servers {
		errs = append(errs, s.close())
	}
	close(r.starter)
	return errors.Join(append(errs, os.RemoveAll(r.dir))...)
}
