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
	"fmt"
	"slices"
	"sort"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Monitor watches for one kind of finding, or for several that need the same knowledge.
type Monitor interface {
	// Saw is called for every event of the history, as it is recorded.
	Saw(e *history.Event)
	// Applied is called for every change that a request makes to a key of a node, at that very step.
	Applied(c redis.Applied)
	// Over is called once, when the run is over.
	Over()
}

// monitors makes all that watch a run. A nil Monitor has nothing to look for in it.
var monitors = []func(*Run) Monitor{newConduct, newUnprotected, newPromises, newEnds, newClosing, newCounters, newRefinement}

// Run is a run that is watched.
type Run struct {
	World *sim.World
	Lock  protocols.Settings
	// Resources are the names of what there is to lock, which are the keys of the locks.
	Resources []string
	// Foreign says that the lock is not that of Lock but one of the caller's own, which may have keys of other names.
	Foreign bool
	// Windows counts how often a client believed in its lock and a monitor looked whether the nodes protected it.
	Windows int

	watching  []Monitor
	witnesses []protocols.Witness // those of watching that are
	findings  []checker.Finding
}

// Watch has all monitors watch the run's world, in which nothing has happened yet.
func (r *Run) Watch() {
	for _, make := range monitors {
		if m := make(r); m != nil {
			r.watching = append(r.watching, m)
			if witness, is := m.(protocols.Witness); is {
				r.witnesses = append(r.witnesses, witness)
			}
		}
	}
	r.World.Watch(func(e *history.Event) {
		for _, m := range r.watching {
			m.Saw(e)
		}
	})
	r.World.OnApplied(func(c redis.Applied) {
		for _, m := range r.watching {
			m.Applied(c)
		}
	})
}

// Findings is what the monitors have found, when the run is over: at most one for a kind and resource, the first, ordered by
// kind and resource.
func (r *Run) Findings() []checker.Finding {
	for _, m := range r.watching {
		m.Over()
	}
	slices.SortStableFunc(r.findings, func(a, b checker.Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Resource, b.Resource))
	})
	return r.findings
}

// found notes a finding. Of those of a kind on a resource the first is kept, and the others are counted.
func (r *Run) found(f checker.Finding) {
	i := slices.IndexFunc(r.findings, func(x checker.Finding) bool { return x.Kind == f.Kind && x.Resource == f.Resource })
	if i >= 0 {
		r.findings[i].Count++
		return
	}
	f.Count = 1
	r.findings = append(r.findings, f)
}

// Observed implements protocols.Witness.
func (r *Run) Observed(client string, e observe.Event) {
	for _, w := range r.witnesses {
		w.Observed(client, e)
	}
}

// Called implements protocols.Witness.
func (r *Run) Called(c *protocols.Call) {
	for _, w := range r.witnesses {
		w.Called(c)
	}
}

// Returned implements protocols.Witness.
func (r *Run) Returned(c *protocols.Call, err error) {
	for _, w := range r.witnesses {
		w.Returned(c, err)
	}
}

// broken notes that a lock does not keep what it promises, in a sentence.
func (r *Run) broken(kind checker.Kind, resource, format string, args ...any) {
	r.found(checker.Finding{Kind: kind, Resource: resource, From: r.now(), To: r.now(), FromSeq: r.seq(), ToSeq: r.seq(),
		Seqs: []int{r.seq()}, Text: fmt.Sprintf(format, args...)})
}

// now is the moment of the run.
func (r *Run) now() checker.Instant { return checker.Instant(r.World.Kernel.Now()) }

// seq is the last event of the history so far.
func (r *Run) seq() int { return len(r.World.History()) }

// seqAt is the last event of the history up to a moment; 0 if there is none.
func (r *Run) seqAt(t kernel.True) int {
	h := r.World.History()
	return sort.Search(len(h), func(i int) bool { return h[i].Time > int64(t) })
}
