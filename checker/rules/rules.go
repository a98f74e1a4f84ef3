// Package rules watches runs of the simulator from inside: what is sent to the nodes, what they hold, and whose it is.
//
// Package checker sees only what clients were told, and finds a broken lock only where two clients collide. A rule needs no
// collision: it knows what must be true at each moment, whether or not anybody comes by to suffer from it. What it finds is a
// [checker.Finding] like any other.
//
// Start at [Table]. A file is a promise that locks make, and has its rule's name: let-go is letGoRule, a letGo watches for it,
// and watchLetGo has one do so.
package rules

import (
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// Rule is something that locks promise.
type Rule struct {
	Name string
	// Kind is what its findings are, unless it says otherwise of one.
	Kind checker.Kind
	// Needs is what there must have been for the rule to say anything. How often there was is counted.
	Needs string
	// Doc is the promise, and whose it is.
	Doc string
	// Holds is what run --why says where the rule holds: %s stands for how many there were to judge of what Each names. Idle is
	// what it says where there was none. Rules without are not mentioned where they hold.
	Holds, Each, Idle string
	// New has a rule watch a run in which nothing has happened yet: it has its methods told of the events that it needs, and of
	// none if it has nothing to judge.
	New func(*watch)
}

// watch is a rule that watches a run, and how often there was something to judge.
type watch struct {
	*Run
	*Rule
	judged int
}

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
	// FailsOver says that replicas may take the place of nodes. What is done to keys of theirs is not followed.
	FailsOver bool
	// Declared says that somebody has declared the keys that stand for a Foreign lock; see sim.World.LockOf.
	Declared bool
	// OneNode says that a Foreign lock is on one node alone, and Renews that it renews leases by itself.
	OneNode, Renews bool
	// Unrefined leaves the specification of Redlock out; see package spec.
	Unrefined bool
	// MaxCommands is how many commands for locks the clients may send; 0 is any number.
	MaxCommands int
	// Watched counts what there was to judge, once the run is over.
	Watched checker.Watched

	rules []*watch
	onEnd []func() // are called when the run is over

	standstills standstills
	raised      *raised
	calls       *calls
	leases      *leases
	ledger      *ledger
	tried       tried
	keys        keys
	findings    []checker.Finding
}

// Watch has all rules watch the run's world, in which nothing has happened yet. There is none for locks that no key stands
// for.
func (r *Run) Watch() {
	if r.Foreign || !r.Lock.Capabilities().Keyless {
		r.watch(Table...)
	}
}

func (r *Run) watch(rules ...Rule) {
	r.standstills, r.raised, r.keys, r.tried = watchStandstills(r), watchRaised(r), keysOf(r), watchTried(r)
	r.ledger = &ledger{Run: r, of: map[vote]*entry{}, last: map[sender]*entry{}}
	r.calls = &calls{Run: r, clients: map[string][]*life{}, seeking: map[*protocols.PermitCall]int{}}
	r.leases = &leases{Run: r, of: map[protocols.Lease]*granted{}, over: map[int]bool{}}
	r.leases.watch()
	r.Watched = checker.Watched{}
	for i := range rules {
		w := &watch{Run: r, Rule: &rules[i]}
		r.rules = append(r.rules, w)
		w.New(w)
	}
	r.ledger.watch()
	r.calls.watch()
}

// isLibrary says whether the lock is the shipped library as it is, and not one of the caller's own.
func (r *Run) isLibrary() bool { return !r.Foreign && protocols.Has[protocols.RedlockSettings](r.Lock) }
