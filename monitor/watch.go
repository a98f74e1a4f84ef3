package monitor

import (
	"redlocksim/history"
	"redlocksim/sim/redis"
)

// monitors has each monitor begin to watch a run: for one kind of finding, or for several that need the same knowledge. It adds
// its methods to the lists of the Run that it wants to be told by, and to none if it has nothing to look for.
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
	watchMeanings,
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
	watchAll,
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
	r.World.Watch(func(e *history.Event) {
		for _, tell := range r.onEvent {
			tell(e)
		}
		if e.Kind == history.Crash {
			for _, tell := range r.onCrash {
				tell(e.Process)
			}
		}
	})
	r.World.OnAsked(func(at redis.Passage, a *redis.Asked) {
		for _, tell := range r.commands[at] {
			tell(at, a)
		}
	})
	r.World.OnPublished(func(s *redis.Server, channel string) {
		for _, tell := range r.onPublished {
			tell(s, channel)
		}
	})
	r.World.OnApplied(func(a *redis.Applied) {
		for _, tell := range r.onApplied {
			tell(a)
		}
	})
}
