package faults

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Field is a ground on which faults are injected, and the account of them.
type Field struct {
	// Used is what the faults so far amount to.
	Used Used
	// Budget is what they may amount to, and Exceeded from when on they have amounted to more; kernel.Forever if they have not.
	Budget   Budget
	Exceeded kernel.True
	// Undone are the faults that were injected and did not come to all that they are for.
	Undone []Undone
	// Fenced says that the lock has fencing counters: of two nodes that go on apart, each lacks some of the other's sooner or
	// later.
	Fenced bool
	// Monotonic says that the lock of a client reads no wall clock: steps of that need no budget.
	Monotonic bool

	onLinks []Fault // those of links to and among nodes that were injected
	others  bool    // so was another one

	ground    Ground
	processes map[string]*process
	voted     map[counter]counted // the fencing counters set by hand

	inForce  []func() // ends each of the faults that may be in force, in the order in which they were injected
	isHealed bool
}

// Undone is a fault, and what it did not come to.
type Undone struct {
	Fault Fault
	Err   error
}

// process is what was done to a client or node.
type process struct {
	// The latest outage: when it began, its number, and whether the restart is on its way.
	stopped   kernel.True
	outages   int
	comesBack bool
	replaced  bool              // a replica has taken its place
	leads     map[string]string // the replica that a client addresses in its place, by the client

	pauses    *pauses // the latest
	suspended stretch // its machine
	rates     []*Rate // the errors of its clocks that have not ended, the latest last

	// By how much its wall clock was moved: now, and the least and the most until now.
	moved, least, most time.Duration
}

// NewField is a ground on which nothing has gone wrong yet.
func NewField(g Ground) *Field {
	return &Field{Exceeded: kernel.Forever, ground: g, processes: map[string]*process{}, voted: map[counter]counted{}}
}

// of is what was done to the process of this name.
func (f *Field) of(name string) *process {
	p := f.processes[name]
	if p == nil {
		p = &process{pauses: &pauses{}, leads: map[string]string{}}
		f.processes[name] = p
	}
	return p
}

// simulated is the world of the simulator, for faults that only that can have: tier live refuses their scenarios.
func (f *Field) simulated() *sim.World { return f.ground.(*world).in }

// uses enters in the account what happens from a moment on, now or before.
func (f *Field) uses(from kernel.True, enter func(*Used)) {
	enter(&f.Used)
	if from < f.Exceeded && f.Budget.Beyond(f.Used) != nil {
		f.Exceeded = from
	}
}

// lost enters in the account what a node has lost now.
func (f *Field) lost(l Loss) { f.uses(f.ground.Now(), func(u *Used) { u.Lost = append(u.Lost, l) }) }

// injected counts a fault in.
func (f *Field) injected(x Fault) {
	if l := Part[Links](x); l != nil && !l.reachStorage() {
		f.onLinks = append(f.onLinks, x)
		return
	}
	f.others = true
}

// Unmet are the faults of a run in which none has met anything: all that were injected are of links to and among nodes, and no
// message went there at the time. Otherwise nil. That nobody writes to the storage can be what a lock is for.
func (f *Field) Unmet() []Fault {
	if f.others || f.ground.Met() {
		return nil
	}
	return f.onLinks
}

// note records in the history that a fault was injected, or has ended. It happens to a client, to a node, or to neither.
func (f *Field) note(name, process string, size time.Duration, format string, args ...any) {
	e := history.Event{Kind: history.Fault, Name: name, Process: process, Span: int64(size), Detail: fmt.Sprintf(format, args...)}
	if !slices.Contains(f.ground.Clients(), process) {
		e.Process, e.Node = "", process
	}
	f.ground.Record(e)
}

// happens records that a fault was injected.
func (f *Field) happens(x Fault, size time.Duration) {
	f.note(kindOf(x).Name, whom(x), size, "%v", x)
}

// whom is the process that a fault happens to, or the only client of its links; empty if there is none.
func whom(x Fault) string {
	if l := Part[Links](x); l != nil {
		return l.client()
	}
	return TargetOf(x)
}

// after has something happen when true time has advanced by d.
func (f *Field) after(d time.Duration, do func()) { f.ground.At(f.ground.Now().Add(d), do) }

// lasts undoes a fault that is in force after d, or at healing if that comes first; if d is zero, at healing only.
func (f *Field) lasts(d time.Duration, undo func()) {
	end := sync.OnceFunc(undo)
	f.inForce = append(f.inForce, end)
	if d > 0 {
		f.after(d, end)
	}
}

// lasting says for how long something is so, if that is known.
func lasting(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " for " + d.String()
}

// until undoes a fault in the same way, and records that.
func (f *Field) until(x Fault, d time.Duration, undo func(), format string, args ...any) {
	f.lasts(d, func() {
		undo()
		f.note(kindOf(x).Ends, whom(x), 0, format, args...)
	})
}

// during records that a fault was injected as well, whose size is how long it lasts.
func (f *Field) during(x Fault, d time.Duration, undo func(), format string, args ...any) {
	f.happens(x, d)
	f.until(x, d, undo, format, args...)
}

// stop takes a node down, by a fault of this size.
func (f *Field) stop(x Fault, size time.Duration, o *Outage, how Stop) error {
	if !f.ground.Up(o.Node) {
		return fmt.Errorf("faults: %s: %s is down already", kindOf(x).Name, o.Node)
	}
	at, err := f.ground.Stop(o.Node, how)
	if err != nil {
		return err
	}
	node := f.of(o.Node)
	node.outages++
	node.stopped, node.comesBack = at, o.RestartAfter != nil
	f.happens(x, size)
	if o.RestartAfter == nil {
		return nil
	}
	number := node.outages
	again := func() {
		// The timeline may have restarted it earlier, and stopped it again.
		if !f.ground.Up(o.Node) && node.outages == number {
			_ = f.restart(o.Node) // it is down
		}
	}
	switch after := *o.RestartAfter; {
	case after == 0:
		return f.restart(o.Node)
	case o.ByWallClock:
		f.ground.AfterWall(o.Node, after, again)
	default:
		f.ground.At(at.Add(after), again)
	}
	return nil
}

// restart starts a node that is down. One that comes back without something it knew has lost memory, for as long as it was
// down, unless it follows a replica that took its place.
func (f *Field) restart(node string) error {
	if f.ground.Up(node) {
		return fmt.Errorf("faults: restart: %s is up", node)
	}
	memory, err := f.ground.Start(node)
	if err != nil {
		return err
	}
	after := f.ground.Now().Sub(f.of(node).stopped)
	with := "all it knew"
	if memory.Any {
		if !f.of(node).replaced {
			f.lost(Loss{Node: node, By: Restarted, After: after, Counters: memory.Counters})
		}
		with = "what was on its disk"
		if memory.Empty {
			with = "an empty memory"
		}
	}
	f.note("restart", node, after, "%v with %s, %v after it stopped", &Restart{Node: node}, with, after.Round(f.ground.Grain()))
	return nil
}

// stretch is a stretch of time that lasts by several things, which may overlap: when the last of them ends, and how long they
// last in all until then.
type stretch struct {
	until kernel.True
	total time.Duration
}

// add adds what begins now, and returns how long all lasts.
func (s *stretch) add(now kernel.True, length time.Duration) time.Duration {
	if end := now.Add(length); end > s.until {
		s.total += end.Sub(max(now, s.until))
		s.until = end
	}
	return s.total
}

// pauses is a stretch of time in which a process is paused, by one pause or suspension or by several that overlap. It is also
// over when the process was resumed, or its server killed.
type pauses struct {
	stretch         // of pauses alone
	inForce     int // pauses and suspensions that have not ended
	suspensions int // how many of these are suspensions
}

// stopped stops a process, and returns the stretch of which that is a part.
func (f *Field) stopped(name, process string, how func(string) error) (*pauses, error) {
	wasPaused := f.ground.Paused(process)
	if err := how(process); err != nil {
		return nil, fmt.Errorf("faults: %s: %w", name, err)
	}
	if !wasPaused {
		f.of(process).pauses = &pauses{}
	}
	this := f.of(process).pauses
	this.inForce++
	return this, nil
}

// pause pauses a process, and returns for how long the pauses of its stretch last in all, and how this one ends.
func (f *Field) pause(process string, length time.Duration) (all time.Duration, end func(), err error) {
	this, err := f.stopped("pause", process, f.ground.Pause)
	if err != nil {
		return 0, nil, err
	}
	return this.add(f.ground.Now(), length), func() { f.pauseEnds(process, this) }, nil
}

// suspend suspends the machine of a client. Its clock goes on at the end of the last suspension, though the client may be
// paused for longer.
func (f *Field) suspend(client string) (end func(), err error) {
	this, err := f.stopped("suspend", client, f.ground.Suspend)
	if err != nil {
		return nil, err
	}
	this.suspensions++
	return func() {
		if this.suspensions--; this.suspensions == 0 && f.of(client).pauses == this {
			f.ground.WakeClock(client)
		}
		f.pauseEnds(client, this)
	}, nil
}

// pauseEnds ends a pause or suspension: the process goes on if it is the last of its stretch.
func (f *Field) pauseEnds(process string, this *pauses) {
	if this.inForce--; this.inForce == 0 && f.of(process).pauses == this {
		_ = f.resume(process) // the ground says elsewhere that it failed
	}
}

// resume has a process go on, unless it crashed, or was killed or resumed meanwhile. What comes at that very moment can pause
// it again: the stretch goes on then, with that pause alone.
func (f *Field) resume(process string) error {
	if !f.ground.Paused(process) {
		return nil
	}
	longer := &pauses{}
	this := f.of(process).pauses
	longer.until = min(this.until, f.ground.Now())
	longer.total = this.total - this.until.Sub(longer.until)
	f.of(process).pauses = longer
	f.note("resume", process, 0, "%v", &Resume{Process: process})
	if longer.inForce == 0 {
		return f.ground.Resume(process)
	}
	if longer.suspensions == 0 {
		f.ground.WakeClock(process)
	}
	return nil
}

// wrongRate gives the clocks of a process a rate error, until end: the one in force is that which began last.
func (f *Field) wrongRate(name string, rate Rate) (end func()) {
	p, this := f.of(name), &rate
	p.rates = append(p.rates, this)
	f.ground.SetClockRate(name, rate.PPB())
	f.uses(f.ground.Now(), func(u *Used) { u.ClockRate = u.ClockRate.atLeast(rate.abs()) })
	return func() {
		p.rates = slices.DeleteFunc(p.rates, func(r *Rate) bool { return r == this })
		var ppb int64
		if in := p.rates; len(in) > 0 {
			ppb = in[len(in)-1].PPB()
		}
		f.ground.SetClockRate(name, ppb)
	}
}

// stepped adds a step of its clock to those before, and returns by how much they have moved it between any two moments.
func (p *process) stepped(by time.Duration) time.Duration {
	p.moved += by
	p.least, p.most = min(p.least, p.moved), max(p.most, p.moved)
	return p.most - p.least
}

// healed is the name of the event at which all faults are undone.
const healed = "heal"

// errHealed is why a fault is not injected whose moment comes after the faults were healed.
var errHealed = errors.New("the moment came after the faults were healed")

// Heal undoes all faults that are in force, in the order in which they were injected, and lets none be injected any more: what
// follows shows whether the lock comes back by itself once nothing goes wrong.
//
// Partitions mend, held messages arrive, delays and clock rates are taken back, paused and suspended processes go on, and
// nodes that are down start with what is on their disks, in the order of the world, replicas last.
//
// What is over is not undone: messages that were lost, clocks that were stepped, replicas that were promoted. What is no
// fault is left alone: a node whose restart is on its way keeps its delay, which may be what keeps the lock safe; one whose
// place a replica has taken stays down, as it would come back as a second master. And what no repair of nodes and
// network brings back is gone: clients that crashed, and work that is stuck.
func (f *Field) Heal() {
	f.isHealed = true
	f.note(healed, "", 0, "all faults are healed")
	for _, end := range f.inForce {
		end()
	}
	f.inForce = nil
	for _, name := range slices.Concat(f.ground.Nodes(), f.ground.Replicas()) {
		if node := f.of(name); !f.ground.Up(name) && !node.comesBack && !node.replaced {
			_ = f.restart(name) // it is down
		}
	}
}
