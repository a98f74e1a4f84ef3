package rules

import (
	"redlocksim/sim/trace"
)

// monitors has each monitor begin to watch a run: for one kind of finding, or for several that need the same knowledge. It has
// its methods told of the events that it needs, and of none if it has nothing to look for; see events.go.
var monitors = []func(*Run){
	watchConduct,
	watchUnprotected,
	watchPromises,
	watchEnds,
	watchRefusals,
	watchFailures,
	watchWorks,
	watchClosing,
	watchReturns,
	watchTelling,
	watchReasons,
	watchBelieved,
	watchEndless,
	watchDelays,
	watchDrawn,
	watchBusyWaits,
	watchCounters,
	watchGuard,
	watchConfirmed,
	watchAtomic,
	watchRefinement,
	watchLeftover,
	watchNeedless,
	watchPermits,
	watchNumber,
	watchAnswers,
	watchShortened,
	watchPrograms,
	watchOverGrants,
}

// Watch has all monitors watch the run's world, in which nothing has happened yet. There is none for locks that no key stands
// for.
func (r *Run) Watch() {
	if r.Foreign || !r.Lock.Capabilities().Keyless {
		r.watch(monitors...)
	}
}

func (r *Run) watch(monitors ...func(*Run)) {
	r.pauses, r.raised, r.keys, r.values = watchPauses(r), watchRaised(r), keysOf(r), newValues()
	for _, watch := range monitors {
		watch(r)
	}
	r.clients = watchClients(r)
	trace.On(r.World.Events, r.commanded)
	trace.On(r.World.Events, r.stepped)
}
