// Package monitor watches runs of the simulator from inside: what is sent to the nodes, what they hold, and whose it is.
//
// Package checker sees only what clients were told, and finds a broken lock only where two clients collide. A monitor needs no
// collision: it knows what must be true at each moment, whether or not anybody comes by to suffer from it. What it finds is a
// [checker.Finding] like any other.
//
// Start at [Run.Watch]. Each monitor is one file, and a line in monitors.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"redlocksim/checker"
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

	// commands are told of every command of a client on its way to a node and back, by the part of the way; see onCommand.
	commands [redis.Broken + 1][]func(redis.Passage, *redis.Asked)
	// steps are told of every step that the library of a client reports to its observer, by its kind; see onStep.
	steps bySteps
	// onEnd is told that the run is over.
	onEnd []func()

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
