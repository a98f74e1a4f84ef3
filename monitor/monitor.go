// Package monitor watches runs of the simulator from inside: what is sent to the nodes, what they hold, and whose it is.
//
// Package checker sees only what clients were told, and finds a broken lock only where two clients collide. A monitor needs no
// collision: it knows what must be true at each moment, whether or not anybody comes by to suffer from it. What it finds is a
// [checker.Finding] like any other.
//
// Start at [Run.Watch]. Each monitor is one file, and a line in monitors.
package monitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Run is a run that is watched.
type Run struct {
	World *sim.World
	Lock  protocols.Settings
	// StepTime is the longest time that the code of a client takes from one step to the next.
	StepTime time.Duration
	// Resources are the names of what there is to lock, which are the keys of the locks.
	Resources []string
	// Foreign says that the lock is not that of Lock but one of the caller's own, which may have keys of other names.
	Foreign bool
	// Declared says that somebody has declared the keys that stand for a Foreign lock; see sim.World.LockOf.
	Declared bool
	// OneNode says that a Foreign lock is on one node alone, and Renews that it renews leases by itself.
	OneNode, Renews bool
	// Unrefined leaves the specification of Redlock out; see package spec.
	Unrefined bool
	// MaxCommands is how many commands for locks the clients may send; 0 is any number.
	MaxCommands int
	// Watched counts what there was to judge.
	checker.Watched

	// onEvent is told of every event of the history, as it is recorded.
	onEvent []func(*history.Event)
	// onCrash is told of a client that has crashed: none of its calls returns any more. Started again it has nothing of before.
	onCrash []func(client string)
	// commands are told of every command of a client on its way to a node and back, by the part of the way; see onCommand.
	commands [redis.Broken + 1][]func(redis.Passage, *redis.Asked)
	// onApplied is told of every change that a request makes to a key of a node, at that very step.
	onApplied []func(*redis.Applied)
	// onPublished is told of everything that a node publishes on a channel.
	onPublished []func(s *redis.Server, channel string)
	// steps are told of every step that the library of a client reports to its observer, by its kind, and wentOn that a client
	// goes on after it; see onStep.
	steps, wentOn bySteps
	// onCall and onReturn are told that a call of a client's lock begins, and what it returned, before anything else happens
	// in the client; but for calls with a wrong argument, of which onMisuse and onRefused are told.
	onCall    []func(*protocols.Call)
	onReturn  []func(*protocols.Call, error)
	onMisuse  []func(*protocols.Call)
	onRefused []func(*protocols.Call, error)
	// onWant is told that a call for a permit of a semaphore begins, or for all, and onGet what it returned. onBegin is told
	// that one for all begins its work, and onDone that this has returned.
	onWant  []func(*protocols.PermitCall)
	onGet   []func(*protocols.PermitCall, error)
	onBegin []func(*protocols.PermitCall, context.Context)
	onDone  []func(*protocols.PermitCall, error)
	// onWork, onStop and onWorked are told of work under a lease that is renewed meanwhile.
	onWork   []func(*protocols.Work)
	onStop   []func(*protocols.Work)
	onWorked []func(*protocols.Work, error)
	// onEnd is told that the run is over.
	onEnd []func()

	reported observe.Event // memory for the step that is told of
	pauses   pauses
	values   *values
	raised   *raised
	clients  *clients
	keys     keys
	findings []checker.Finding
}

// Findings is what the monitors have found, when the run is over, ordered by kind and resource: the first of a kind on a
// resource, or two of them, the first that faults excuse and the first that they do not.
func (r *Run) Findings() []checker.Finding {
	for _, tell := range r.onEnd {
		tell()
	}
	slices.SortStableFunc(r.findings, func(a, b checker.Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Resource, b.Resource))
	})
	return r.findings
}

// found notes a finding. Of those of a kind on a resource the first that faults excuse is kept, and the first that they do not;
// the others are counted.
func (r *Run) found(f checker.Finding) {
	i := slices.IndexFunc(r.findings, func(x checker.Finding) bool {
		return x.Kind == f.Kind && x.Resource == f.Resource && x.Excusable() == f.Excusable()
	})
	if i >= 0 {
		r.findings[i].Count++
		return
	}
	f.Count = 1
	r.findings = append(r.findings, f)
}

// Observed implements protocols.Witness.
func (r *Run) Observed(client string, e observe.Event) { r.passOn(&r.steps, client, e) }

// WentOn implements protocols.Witness.
func (r *Run) WentOn(client string, e observe.Event) { r.passOn(&r.wentOn, client, e) }

// passOn tells of a step, in memory that all steps share: nothing else happens meanwhile.
func (r *Run) passOn(lists *bySteps, client string, e observe.Event) {
	list := lists.of(e.Step)
	if len(list) == 0 {
		return
	}
	r.reported = e
	for _, tell := range list {
		tell(client, &r.reported)
	}
}

// Called implements protocols.Witness.
func (r *Run) Called(c *protocols.Call) {
	list := r.onCall
	if c.Misuse != "" {
		list = r.onMisuse
	}
	for _, tell := range list {
		tell(c)
	}
}

// Returned implements protocols.Witness.
func (r *Run) Returned(c *protocols.Call, err error) {
	list := r.onReturn
	if c.Misuse != "" {
		list = r.onRefused
	}
	for _, tell := range list {
		tell(c, err)
	}
}

// Wants implements protocols.Witness.
func (r *Run) Wants(c *protocols.PermitCall) {
	for _, tell := range r.onWant {
		tell(c)
	}
}

// Begins implements protocols.Witness.
func (r *Run) Begins(c *protocols.PermitCall, ctx context.Context) {
	for _, tell := range r.onBegin {
		tell(c, ctx)
	}
}

// Ends implements protocols.Witness.
func (r *Run) Ends(c *protocols.PermitCall, err error) {
	for _, tell := range r.onDone {
		tell(c, err)
	}
}

// Gets implements protocols.Witness.
func (r *Run) Gets(c *protocols.PermitCall, err error) {
	for _, tell := range r.onGet {
		tell(c, err)
	}
}

// Works implements protocols.Witness.
func (r *Run) Works(w *protocols.Work) {
	for _, tell := range r.onWork {
		tell(w)
	}
}

// Stops implements protocols.Witness.
func (r *Run) Stops(w *protocols.Work) {
	for _, tell := range r.onStop {
		tell(w)
	}
}

// Worked implements protocols.Witness.
func (r *Run) Worked(w *protocols.Work, err error) {
	for _, tell := range r.onWorked {
		tell(w, err)
	}
}

// broken notes that a lock does not keep what it promises whatever goes wrong, in a sentence without its full stop.
func (r *Run) broken(kind checker.Kind, resource, format string, args ...any) {
	r.found(r.finding(kind, resource, format, args...))
}

// brokenWithin is broken for what a lock promises only while nothing goes wrong that the budget does not allow.
func (r *Run) brokenWithin(kind checker.Kind, resource, format string, args ...any) {
	f := r.finding(kind, resource, format, args...)
	f.Assumes = true
	r.found(f)
}

func (r *Run) finding(kind checker.Kind, resource, format string, args ...any) checker.Finding {
	return checker.Finding{Kind: kind, Resource: resource, From: r.now(), To: r.now(), FromSeq: r.seq(), ToSeq: r.seq(),
		Seqs: []int{r.seq()}, Text: fmt.Sprintf(format, args...) + "."}
}

// isLibrary says whether the lock is the shipped library as it is, and not one of the caller's own.
func (r *Run) isLibrary() bool { return !r.Foreign && protocols.Has[protocols.RedlockSettings](r.Lock) }

// now is the moment of the run.
func (r *Run) now() checker.Instant { return checker.Instant(r.World.Kernel.Now()) }

// seq is the last event of the history so far.
func (r *Run) seq() int { return len(r.World.History()) }

// seqAt is the last event of the history up to a moment; 0 if there is none.
func (r *Run) seqAt(t kernel.True) int {
	h := r.World.History()
	return sort.Search(len(h), func(i int) bool { return h[i].Time > int64(t) })
}
