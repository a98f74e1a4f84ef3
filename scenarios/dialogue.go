package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"redlocksim/sim"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// overhear has say given, line by line, all that passes between the libraries of clients and the nodes: what is asked and how,
// what a request changes, and what each library is told of it. A run has the same lines on all tiers, where its history may be
// the same although an adapter or a script does something else, which would have mattered only to somebody who came by.
func overhear(w *sim.World, say func(line string)) {
	line := func(format string, args ...any) {
		say(fmt.Sprint(int64(w.Kernel.Now()), " ", fmt.Sprintf(format, args...)))
	}
	trace.On(w.Events, func(m network.Sent) {
		if p, is := m.Client().(redis.Request); is && m.Kind == network.RequestMessage {
			if phrases := p.Phrases(); phrases != nil {
				line("%s asks %s: %v", m.From().Name(), m.Link().Server().Name(), phrases)
			}
		}
	})
	var changes []redis.Change // of the request that is being carried out
	trace.On(w.Events, func(a *redis.Applied) { changes = append(changes, a.Change) })
	trace.On(w.Events, func(s redis.Executed) {
		// Each key once, in whatever order a tier changes them.
		slices.SortStableFunc(changes, func(a, b redis.Change) int { return cmp.Compare(a.Key, b.Key) })
		for i := 0; i < len(changes); {
			first, last := changes[i], changes[i]
			for ; i < len(changes) && changes[i].Key == first.Key; i++ {
				last = changes[i]
			}
			if first.Before != last.After {
				line("%s has %v for %v", s.Name(), last.After, first.Before)
			}
		}
		changes = changes[:0]
	})
	trace.On(w.Events, func(t redis.Told) { line("%v", t) })
}
