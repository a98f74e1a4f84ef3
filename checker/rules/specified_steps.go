package rules

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/checker/spec"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

var specifiedStepsRule = Rule{
	Name:  "specified-steps",
	Kind:  checker.Refinement,
	Needs: "a step of the library, and what the specification allows",
	Doc: `
The library takes only steps that [the specification of Redlock](../checker/spec) allows, and leaves out none that it asks for:
what an attempt, a lease and a caller may do next, what makes a quorum and a validity, in which order the callers of a client
are served, how long they wait, and what every field of a step says. The specification is written from the paper and the
[guarantees](guarantees.md), not from the library. (*redlock*.)`,
	Holds: "the library took %s, and the specification allows each",
	Each:  "step",
	Idle:  "the specification followed no step: it is of the library's lock",
	New:   watchSpecifiedSteps,
}

// specifiedSteps has every client of the shipped library followed by the specification of Redlock: what the library does
// must be something that the specification allows.
type specifiedSteps struct {
	*watch
	settings spec.Settings
	followed map[*kernel.Process][]*spec.Client // the newest last; nil of one that was objected to
	// mixed are those where a call for a permit goes on to make attempts with the client before, so that nobody can tell whose
	// an attempt is.
	mixed map[*kernel.Process]bool
	left  map[leaver]*leaving
	// retries are since when the calls that have told of a retry could have made it if they were called, by the calls' names.
	retries map[leaver]kernel.True
}

// leaver is a client, and the value of an acquisition that its commands carry, or the name of a call.
type leaver struct {
	client *kernel.Process
	value  string
}

// leaving is when the first command of the round under way left, by its client's clock and by what the round is for.
type leaving [redis.Deletes + 1]time.Time

func watchSpecifiedSteps(r *watch) {
	if r.Unrefined || !protocols.Has[protocols.RedlockSettings](r.Lock) {
		return
	}
	own := protocols.Of[protocols.RedlockSettings](r.Lock)
	quorum, _ := r.Lock.Votes(len(r.World.Servers))
	f := &specifiedSteps{watch: r, followed: map[*kernel.Process][]*spec.Client{}, mixed: map[*kernel.Process]bool{}, left: map[leaver]*leaving{},
		retries: map[leaver]kernel.True{}, settings: spec.Settings{
			Quorum: quorum, NodeTimeout: r.Lock.NodeTimeout,
			Drift:    func(ttl time.Duration) time.Duration { return allowance(own.Drift, ttl) },
			RetryMin: own.RetryDelay.Min, RetryMax: own.RetryDelay.Max, WakeUp: own.WakeUp, Fencing: own.Fencing, Sequence: protocols.Of[protocols.OneRedisSettings](r.Lock).Sequence,
			Guard: own.Guard != nil, LossLead: own.LossLead, Prompt: r.StepTime == 0}}
	for _, s := range r.World.Servers {
		f.settings.Nodes = append(f.settings.Nodes, s.Name())
	}
	r.onCrash(func(client string) { delete(f.followed, r.World.Client(client)) })
	r.onCommand(f.sends, redis.Sent)
	r.onStep(f.observed)
	trace.On(r.World.Events, f.wentOn)
	trace.On(r.World.Events, f.notified)
	r.onCall(f.called)
	r.onReturn(f.returned)
}

func (f *specifiedSteps) sends(a *redis.Asked) {
	now := a.Client.ProgramClock().Now()
	for _, value := range a.Args { // of a script, one of them is the value
		if first := &f.leaves(a.Client, value)[a.Intent]; value != "" && first.IsZero() {
			*first = now
		}
	}
}

// leaves is when the commands of a client left with a value.
func (f *specifiedSteps) leaves(client *kernel.Process, value string) *leaving {
	by := leaver{client, value}
	if f.left[by] == nil {
		f.left[by] = &leaving{}
	}
	return f.left[by]
}

func (f *specifiedSteps) called(c *call) {
	if c.Func != protocols.NewClientCall {
		return
	}
	p := c.client
	f.followed[p] = append(f.followed[p], spec.New(f.settings))
	f.mixed[p] = f.mixed[p] || f.calls.isSeeking(c.Client)
	if f.mixed[p] {
		clear(f.followed[p])
	}
}

func (f *specifiedSteps) returned(c *call, _ error) {
	isOpen := func(open *call) bool { return open.Func == protocols.AcquireCall && open.client == c.client }
	if c.Func != protocols.AcquireCall || slices.ContainsFunc(f.calls.open, isOpen) {
		return
	}
	for _, s := range f.followed[c.client] {
		if s == nil {
			continue
		}
		if name := s.Forgotten(); name != "" {
			f.broken(resourcesOf(name)[0], "%s has told of a call that waits for %s, all its calls have returned, and this one was neither granted nor given up",
				c.Client, name)
		}
	}
}

func (f *specifiedSteps) observed(client string, e *observe.Event) {
	p := f.World.Client(client)
	if p.Dead() { // it may be ended in the middle of what happens at a step
		return
	}
	if len(f.followed[p]) == 0 {
		f.followed[p] = append(f.followed[p], spec.New(f.settings))
	}
	all, of := f.followed[p], f.of(p, e)
	c := all[of]
	if c == nil {
		return
	}
	f.judged++
	left, round := f.leaves(p, e.Value), redis.Sets
	if e.Op == driver.OpExtend {
		round = redis.Extends
	}
	if e.Step == observe.ExtendStarted {
		left[redis.Extends] = time.Time{}
	}
	if e.Step == observe.Retrying {
		f.retries[leaver{p, e.Call}] = f.World.Kernel.Now()
	}
	if err := c.Follow(spec.Event{Event: *e, At: p.ProgramClock().Now(), Asked: left[round], Waited: f.beforeAsking(p, e)}); err != nil {
		f.broken(resourcesOf(e.Resource)[0], "%s takes a step that the specification does not allow: %v", client, err)
		all[of] = nil
	}
}

// notified takes that a node calls a client to a lock.
func (f *specifiedSteps) notified(n redis.Notified) {
	for by := range f.retries {
		if by.client == n.Client {
			f.retries[by] = f.World.Kernel.Now()
		}
	}
	if all := f.followed[n.Client]; len(all) == 1 && all[0] != nil { // of several, nobody can tell which is called
		all[0].Called(n.Message)
	}
}

// beforeAsking is for how long an attempt that begins could have begun before: the first of the call that began last, which may
// be the one that makes it, or a retry.
func (f *specifiedSteps) beforeAsking(p *kernel.Process, e *observe.Event) time.Duration {
	by := leaver{p, e.Call}
	switch since, retries := f.retries[by]; {
	case e.Step != observe.AttemptStarted:
		return 0
	case retries:
		delete(f.retries, by)
		return f.waitedSince(p, since)
	case e.Attempt > 1:
		return 0
	}
	for _, c := range slices.Backward(f.calls.open) {
		if c.client == p && c.Func == protocols.AcquireCall && nameOf(c) == e.Resource {
			return f.waited(c)
		}
	}
	return 0
}

// of is the place of the library's client that took a step: of one that it knows, or else the last.
func (f *specifiedSteps) of(p *kernel.Process, e *observe.Event) int {
	all := f.followed[p]
	if before := slices.IndexFunc(all, func(c *spec.Client) bool { return c != nil && c.Knows(e) }); before >= 0 {
		return before
	}
	return len(all) - 1
}

// wentOn tells the specification where the client reads its clock next.
func (f *specifiedSteps) wentOn(on protocols.WentOn) {
	if on.Step != observe.AttemptStarted && on.Step != observe.ExtendStarted && on.Step != observe.QuorumReached {
		return
	}
	p, e := f.World.Client(on.Client), on.Event
	of := f.of(p, e)
	if of < 0 || f.followed[p][of] == nil || p.Dead() {
		return
	}
	f.followed[p][of].GoesOn(spec.Event{Event: *e, At: p.ProgramClock().Now()}, f.ttls(on.Client, e))
}

// ttls are those that a step may be about: what open calls of the client ask for on the same resources, or for the same lease.
func (f *specifiedSteps) ttls(client string, e *observe.Event) (all []time.Duration) {
	for _, c := range f.calls.open {
		lease, voted := c.Lease.(protocols.Voted)
		asks := e.Step == observe.AttemptStarted && c.Func == protocols.AcquireCall && nameOf(c) == e.Resource ||
			e.Step == observe.ExtendStarted && c.Func == protocols.ExtendCall && voted && lease.Value() == e.Value
		if c.Client == client && asks {
			all = append(all, c.TTL)
		}
	}
	return all
}
