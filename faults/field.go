package faults

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/sim/kernel"
)

// Field is a ground on which faults are injected, and the account of them.
type Field struct {
	// Used is what the faults so far amount to.
	Used Used
	// Budget is what they may amount to, and Exceeded from when on they have amounted to more; kernel.Forever if they have not.
	Budget   Budget
	Exceeded kernel.True
	// Undone says what faults that were injected did not come to.
	Undone []string
	// Fenced says that the lock has fencing counters: of two nodes that go on apart, each lacks some of the other's sooner or
	// later.
	Fenced bool

	onLinks []Fault // those of links to and among nodes that were injected
	others  bool    // so was another one

	ground  Ground
	outages map[string]outage         // by node, the latest
	rates   map[string][]*rateInForce // by process, the latest last
	pauses  map[string]*pauses        // by process, the latest
	steps   map[string]*steps         // by process
	// suspensions are those of each client's machine.
	suspensions map[string]suspensions

	inForce  []*inForce      // the faults that may be in force, in the order in which they were injected
	replaced map[string]bool // nodes whose place a replica has taken
	isHealed bool
}

// NewField is a ground on which nothing has gone wrong yet.
func NewField(g Ground) *Field {
	return &Field{Exceeded: kernel.Forever, ground: g, outages: map[string]outage{}, rates: map[string][]*rateInForce{}, pauses: map[string]*pauses{}, steps: map[string]*steps{}, suspensions: map[string]suspensions{}, replaced: map[string]bool{}}
}

// uses enters in the account what happens from a moment on, now or before.
func (f *Field) uses(from kernel.True, enter func(*Used)) {
	enter(&f.Used)
	if from < f.Exceeded && f.Budget.Beyond(f.Used) != nil {
		f.Exceeded = from
	}
}

// injected counts a fault in.
func (f *Field) injected(x Fault) {
	if on, isOnLinks := x.(interface{ reachStorage() bool }); isOnLinks && !on.reachStorage() {
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

// note records in the history that a fault was injected, or has ended.
func (f *Field) note(name, process, node string, size time.Duration, format string, args ...any) {
	f.ground.Record(history.Event{Kind: history.Fault, Name: name, Process: process, Node: node,
		Span: int64(size), Detail: fmt.Sprintf(format, args...)})
}

// notePoint records a fault of the process of this name, client or node.
func (f *Field) notePoint(name, process string, size time.Duration, format string, args ...any) {
	if slices.Contains(f.ground.Clients(), process) {
		f.note(name, process, "", size, format, args...)
		return
	}
	f.note(name, "", process, size, format, args...)
}

// everyNode is all nodes, those that clients address first.
func (f *Field) everyNode() []string { return slices.Concat(f.ground.Nodes(), f.ground.Replicas()) }

// inForce is a fault that is in force until it is undone, once.
type inForce struct {
	undo func()
	over bool
}

func (x *inForce) end() {
	if !x.over {
		x.over = true
		x.undo()
	}
}

// lasts undoes a fault that is in force after d, or at healing if that comes first; if d is zero, at healing only.
func (f *Field) lasts(d time.Duration, undo func()) {
	x := &inForce{undo: undo}
	f.inForce = append(f.inForce, x)
	if d > 0 {
		f.ground.After(d, x.end)
	}
}

// outage is how a node went down.
type outage struct {
	at     kernel.True
	number int // tells it from the node's other outages
	// comesBack: its restart is on its way.
	comesBack bool
}

// stop takes a node down, by a fault of this name and size.
func (f *Field) stop(name string, size time.Duration, o *Outage, how Stop, sentence string) error {
	if !f.ground.Up(o.Node) {
		return fmt.Errorf("faults: %s: %s is down already", name, o.Node)
	}
	at, err := f.ground.Stop(o.Node, how)
	if err != nil {
		return err
	}
	this := outage{at: at, number: f.outages[o.Node].number + 1, comesBack: o.RestartAfter != nil}
	f.outages[o.Node] = this
	f.note(name, "", o.Node, size, "%s", sentence)
	if o.RestartAfter == nil {
		return nil
	}
	again := func() {
		// The timeline may have restarted it earlier, and stopped it again.
		if !f.ground.Up(o.Node) && f.outages[o.Node].number == this.number {
			_ = f.restart(o.Node) // it is down
		}
	}
	switch after := *o.RestartAfter; {
	case after == 0:
		return f.restart(o.Node)
	case o.ByWallClock:
		f.ground.AfterWall(o.Node, after, again)
	default:
		f.ground.After(at.Add(after).Sub(f.ground.Now()), again)
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
	after := f.ground.Now().Sub(f.outages[node].at)
	with := "all it knew"
	if memory.Any {
		if !f.replaced[node] {
			lost := Amnesia{Node: node, After: after, Counters: memory.Counters}
			f.uses(f.ground.Now(), func(u *Used) { u.Restarts = append(u.Restarts, lost) })
		}
		with = "what was on its disk"
		if memory.Empty {
			with = "an empty memory"
		}
	}
	f.note("restart", "", node, after, "%v with %s, %v after it stopped", &Restart{Node: node}, with, after.Round(f.ground.Grain()))
	return nil
}

// pauses is a stretch of time in which a process is paused, by one pause or suspension or by several that overlap. It is also
// over when the process was resumed, or its server killed.
type pauses struct {
	inForce     int           // pauses and suspensions that have not ended
	suspensions int           // how many of these are suspensions
	until       kernel.True   // when the last of the pauses ends
	paused      time.Duration // for how long pauses last in all, until then
}

// stopped stops a process, and returns the stretch of which that is a part.
func (f *Field) stopped(name, process string, how func(string) error) (*pauses, error) {
	wasPaused := f.ground.Paused(process)
	if err := how(process); err != nil {
		return nil, fmt.Errorf("faults: %s: %w", name, err)
	}
	if !wasPaused {
		f.pauses[process] = &pauses{}
	}
	this := f.pauses[process]
	this.inForce++
	return this, nil
}

// pause pauses a process, and returns for how long the pauses of its stretch last in all, and how this one ends.
func (f *Field) pause(process string, length time.Duration) (all time.Duration, end func(), err error) {
	this, err := f.stopped("pause", process, f.ground.Pause)
	if err != nil {
		return 0, nil, err
	}
	now := f.ground.Now()
	if end := now.Add(length); end > this.until {
		this.paused += end.Sub(max(now, this.until))
		this.until = end
	}
	return this.paused, func() { f.pauseEnds(process, this) }, nil
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
		if this.suspensions--; this.suspensions == 0 && f.pauses[client] == this {
			f.ground.WakeClock(client)
		}
		f.pauseEnds(client, this)
	}, nil
}

// pauseEnds ends a pause or suspension: the process goes on if it is the last of its stretch.
func (f *Field) pauseEnds(process string, this *pauses) {
	if this.inForce--; this.inForce == 0 && f.pauses[process] == this {
		_ = f.resume(process) // the ground says elsewhere that it failed
	}
}

// suspensions are until when a machine is suspended, and for how long it was until then in all.
type suspensions struct {
	until kernel.True
	total time.Duration
}

// suspended adds a suspension of a client's machine that begins now to those before, with which it may overlap, and says for
// how long it is suspended in all.
func (f *Field) suspended(client string, length time.Duration) time.Duration {
	s := f.suspensions[client]
	now := f.ground.Now()
	if end := now.Add(length); end > s.until {
		s.total += end.Sub(max(now, s.until))
		s.until = end
	}
	f.suspensions[client] = s
	return s.total
}

// resume has a process go on, unless it crashed, or was killed or resumed meanwhile. What comes at that very moment can pause
// it again: the stretch goes on then, with that pause alone.
func (f *Field) resume(process string) error {
	if !f.ground.Paused(process) {
		return nil
	}
	longer := &pauses{}
	if this := f.pauses[process]; this != nil {
		longer.until = min(this.until, f.ground.Now())
		longer.paused = this.paused - this.until.Sub(longer.until)
	}
	f.pauses[process] = longer
	f.notePoint("resume", process, 0, "%v", &Resume{Process: process})
	if longer.inForce == 0 {
		return f.ground.Resume(process)
	}
	if longer.suspensions == 0 {
		f.ground.WakeClock(process)
	}
	return nil
}

// rateInForce is a rate error that has not ended.
type rateInForce struct{ ppb int64 }

// wrongRate gives the clocks of a process a rate error, until end: the one in force is that which began last.
func (f *Field) wrongRate(process string, rate Rate) (end func()) {
	this := &rateInForce{rate.PPB()}
	f.rates[process] = append(f.rates[process], this)
	f.ground.SetClockRate(process, this.ppb)
	f.uses(f.ground.Now(), func(u *Used) { u.ClockRate = u.ClockRate.atLeast(rate.abs()) })
	return func() {
		f.rates[process] = slices.DeleteFunc(f.rates[process], func(r *rateInForce) bool { return r == this })
		var ppb int64
		if in := f.rates[process]; len(in) > 0 {
			ppb = in[len(in)-1].ppb
		}
		f.ground.SetClockRate(process, ppb)
	}
}

// steps are by how much the wall clock of a process was moved: now, and the least and the most until now.
type steps struct{ now, least, most time.Duration }

// stepped adds a step to those of a process, and returns by how much they have moved its clock between any two moments.
func (f *Field) stepped(process string, by time.Duration) time.Duration {
	s := f.steps[process]
	if s == nil {
		s = new(steps)
		f.steps[process] = s
	}
	s.now += by
	s.least, s.most = min(s.least, s.now), max(s.most, s.now)
	return s.most - s.least
}
