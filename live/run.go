//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/internal/undisturbed"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// Run runs a scenario against redis-server processes and judges the run: its findings, grants and leaked keys, but no
// durations. Whatever happens, no process and no file is left when it returns; it returns early, with an error that
// matches ctx's, when ctx ends. The error matches ErrUnfit, ErrNoServer or ErrNoCompiler for what cannot be run here,
// and is an internal one otherwise.
//
// A run that is not as expected, and that the machine held up, is made again, more slowly, where Options name no speed:
// it was another scenario. After undisturbed.Most such runs it is not tested. But no delay excuses clients that hold the lock together where they must not, nor tokens out of
// order: such a run stands.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (*scenarios.Result, error) {
	if err := Unfit(s); err != nil {
		return nil, err
	}
	speeds := []int{o.Speed}
	if o.Speed == 0 {
		all := slowing(speedOf(s))
		speeds = all[:]
	}
	again := o.Again
	if again == nil {
		again = func(*scenarios.Result, time.Duration) {}
	}
	return untilUndisturbed(speeds, again, func(speed int) (r *scenarios.Result, heldUp time.Duration, err error) {
		o.Speed = speed
		out, stalled, err := record(ctx, s, o)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		if stalled >= disturbing(s, speed) {
			heldUp = stalled
		}
		r, err = scenarios.JudgeLive(s, out)
		return r, heldUp, err
	})
}

// untilUndisturbed makes runs at these speeds, one after the other, until one counts, and tells of those that do not. It is told
// by how much each was held up; 0 for too little to matter.
func untilUndisturbed(speeds []int, again func(*scenarios.Result, time.Duration), run func(speed int) (*scenarios.Result, time.Duration, error)) (*scenarios.Result, error) {
	for i := 0; ; i++ {
		r, heldUp, err := run(speeds[i])
		if err != nil || r.OK() || heldUp == 0 || isInexcusable(r) {
			return r, err
		}
		if i == len(speeds)-1 {
			r.SetNotTested(fmt.Sprintf("the machine is too busy: it held the run up for %v, as it did %d runs before", heldUp.Round(time.Millisecond), i))
			return r, nil
		}
		again(r, heldUp)
	}
}

// slowing is the speeds at which a scenario is tried, one after the other.
func slowing(first int) [undisturbed.Most]int {
	if first == 1 {
		return [...]int{1, 1, 1, 1, 1}
	}
	return [...]int{first, (first + 1) / 2, 1, 1, 1}
}

// isInexcusable says that a run shows a violation of mutual exclusion at the lock that is not expected, or a resource with a
// fence that took what it should have turned down.
func isInexcusable(r *scenarios.Result) bool {
	for _, kind := range r.Findings {
		switch kind {
		case checker.LeaseOverlap, checker.TokenRegressed, checker.TokenRepeated:
		case checker.StaleWrite:
			if kind := r.Scenario.Storage.StorageKind; kind != sim.Fenced && kind != sim.FencedWrites {
				continue
			}
		default:
			continue
		}
		if !slices.Contains(r.Scenario.Expect.Findings, kind) {
			return true
		}
	}
	return false
}

// record makes a run, and says by how much it was held up.
func record(ctx context.Context, s *scenarios.Scenario, o Options) (out *scenarios.Outcome, stalled time.Duration, err error) {
	on, err := newStage(o.Speed, o.Client)
	if err != nil {
		return nil, 0, err
	}
	r := &run{stage: on, scenario: s, items: make([]item, len(s.Timeline))}
	if slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool { return it.When.After != nil && it.When.After.Event == beliefEnded }) {
		r.beliefs = newBeliefs()
	}
	r.witness = r.learn
	for i, it := range s.Timeline {
		r.items[i].fault = faults.Placed{When: it.When, Fault: it.Fault}
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.setUp(ctx); err != nil {
		return nil, 0, err
	}
	r.pulse.Forget()
	if err := r.play(ctx); err != nil {
		return nil, 0, err
	}
	stalled = r.pulse.Longest()
	out, err = r.outcome()
	return out, stalled, err
}

// run is a run of a scenario under way.
type run struct {
	*stage
	scenario *scenarios.Scenario
	start    int64 // CLOCK_MONOTONIC at true time 0
	storage  *storage
	items    []item
	// beliefs are followed, and looked at when the next of them ends, where the timeline asks for such a moment.
	beliefs *beliefs
	look    *moment
}

// item is what became of an item of the timeline.
type item struct {
	seen  int // events that match its moment
	fired bool
	fault faults.Placed // if it is one
}

// setUp starts everything.
func (r *run) setUp(ctx context.Context) error {
	s := r.scenario
	persistence, preloaded := s.Nodes.Persistence.Persistence, needsPreload(s)
	if err := r.addServers(ctx, s.Nodes.Names, persistence, preloaded); err != nil {
		return err
	}
	for _, of := range s.Nodes.Replicas {
		if err := r.addReplicas(ctx, of.Key, of.Value, persistence, preloaded); err != nil {
			return err
		}
	}
	if err := r.replicasReady(ctx); err != nil {
		return err
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
	for i, name := range s.Clients {
		role := &role{Name: name, Index: i, Clients: len(s.Clients), Scenario: string(text), Speed: int(r.speed)}
		for _, x := range r.servers {
			addr, err := r.link(name, x.name, x.addr)
			if err != nil {
				return err
			}
			if !r.isReplica(x.name) { // of those it does not know
				role.Nodes = append(role.Nodes, addr)
			}
		}
		if role.Storage, err = r.link(name, sim.StorageName, r.storage.listener.Addr().String()); err != nil {
			return err
		}
		var clocks *faketime.Clocks
		if needsClocks(s, name) {
			if clocks, err = faketime.New(filepath.Join(r.dir, fmt.Sprintf("client-%d.clocks", i))); err != nil {
				return err
			}
			role.Clocks = clocks.Path()
		}
		c, err := r.newPlayer(name, order{Begin: role})
		if err != nil {
			if clocks != nil {
				err = errors.Join(err, clocks.Close())
			}
			return err
		}
		c.clocks, c.kind = clocks, s.Lock.Clock.ClockKind
		r.clients = append(r.clients, c)
	}
	for _, c := range r.clients {
		if err := r.ready(ctx, c); err != nil {
			return err
		}
	}
	if persistence == sim.EverySecond && preloaded {
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
		before := x.clocks.Syncs()
		if x.follows != "" { // it writes down what its master does
			continue
		}
		if _, err := redisproc.Ask(x.addr, "SET", "redlocksim:settled", "1", "PX", "1"); err != nil {
			return err
		}
		for deadline := time.Now().Add(redisproc.Patience); x.clocks.Syncs() == before; {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return errors.Join(fmt.Errorf("live: %s does not fsync", x.name), context.Cause(ctx))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// needsClocks says whether something can happen to the clocks of a client.
func needsClocks(s *scenarios.Scenario, client string) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		return it.Fault != nil && it.Fault.Live(deployment(s)).Clocks && it.Fault.Target() == client
	})
}

// needsPreload says whether a scenario needs the library that is loaded into redis-server: it changes clocks of servers, and
// notes fsyncs.
func needsPreload(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		if it.Fault == nil {
			return false
		}
		on := it.Fault.Live(deployment(s))
		return on.Clocks && !slices.Contains(s.Clients, it.Fault.Target()) ||
			on.Unsynced && s.Nodes.Persistence.Persistence != sim.NoPersistence
	})
}

// play carries the timeline out, until its end or until nothing more can happen.
func (r *run) play(ctx context.Context) error {
	r.start = faketime.MachineTime()
	for i := range r.scenario.Timeline {
		if when := r.scenario.Timeline[i].When; when.After == nil {
			r.after(r.start, when.At, func() { r.fire(i) })
		}
	}
	if r.scenario.Heal != nil {
		r.after(r.start, *r.scenario.Heal, r.field.Heal)
	}
	return r.until(ctx, r.start+int64(r.scenario.Duration)/r.speed, r.isOver)
}

// isOver says that nothing more can happen but that keys and leases end: everybody is done, and every fault was injected.
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

// beliefEnded is how the timeline calls the end of a believed window.
var beliefEnded = faults.EventName(&history.Event{Kind: history.Expire})

// learn has the timeline do what it does at an entry of the record, or at what follows from it.
func (r *run) learn(e entry) {
	if e.event != nil {
		r.follow(e.at, e.event)
	}
	if r.beliefs != nil {
		r.beliefs.take(e)
		r.lookAtBeliefs()
	}
}

// lookAtBeliefs has the timeline do what it does at the ends of beliefs that are over, and looks again when the next one ends.
func (r *run) lookAtBeliefs() {
	r.drop(r.look)
	for {
		w, isOver := r.beliefs.over(faketime.MachineTime())
		if !isOver {
			break
		}
		e := w.expiry()
		r.follow(w.ends, &e)
	}
	if next := r.beliefs.next(); next != faketime.Never {
		r.look = r.when(next, r.lookAtBeliefs)
	}
}

// follow has the timeline do what it does at an event.
func (r *run) follow(at int64, e *history.Event) {
	for i := range r.scenario.Timeline {
		when, x := r.scenario.Timeline[i].When, &r.items[i]
		if when.After == nil || !when.After.Matches(e) {
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
	x.fired = true
	x.fault.Fire(r.field)
}

// outcome is what the run was, when it is over.
func (r *run) outcome() (*scenarios.Outcome, error) {
	h := merge(r.entries, r.start, int(r.speed), r.scenario.Duration)
	hash := new(history.Hasher)
	for i := range h {
		hash.Add(&h[i])
	}
	out := &scenarios.Outcome{History: h, HistoryHash: hash.Sum(), Used: r.field.Used}
	for i, x := range r.items {
		it := &r.scenario.Timeline[i]
		switch {
		case x.fired && x.fault.Err == nil:
			continue
		case it.Fault == nil:
			out.Idle = append(out.Idle, fmt.Sprintf("%s, %v: the moment never came", it.Client, it.When))
		case x.fault.Err != nil:
			out.NotInjected = append(out.NotInjected, fmt.Sprintf("%v: %v", it.When, x.fault.Err))
		default:
			out.NotInjected = append(out.NotInjected, fmt.Sprintf("%v: the moment never came", it.When))
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
		for _, name := range r.scenario.Resources {
			if slices.ContainsFunc(records, func(k sim.Record) bool { return k.Key == name && k.ExpiresAt == 0 }) {
				out.Leaks = append(out.Leaks, scenarios.Leak{Key: name, Node: s.name})
			}
		}
	}
	return out, nil
}

// close ends whatever has been started and removes the files.
func (r *run) close() error {
	err := r.stage.close()
	if r.storage != nil {
		r.storage.close()
	}
	return err
}
