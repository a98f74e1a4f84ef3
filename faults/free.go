package faults

import (
	"fmt"
	"slices"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// freeing waits for the moment at which a number of nodes are free of a lock.
type freeing struct {
	*Moment
	world    *sim.World
	resource string // empty until it is granted
	fire     func()
	alarms   map[kernel.True]bool // set already
	over     bool
}

func (m *Moment) freeString() string {
	text := fmt.Sprintf("%d nodes are free of the lock of %s", max(m.Nth, 1), m.Client)
	if m.Resource != "" {
		text += " on " + m.Resource
	}
	if m.Lead > 0 {
		text = fmt.Sprintf("%v before %s", m.Lead, text)
	}
	return text
}

// armFree has f called at the moment, once. Whatever happens to the nodes, their clocks and the keys of the lock until then is
// taken into account as it happens: a release makes nodes free as well.
func (m *Moment) armFree(w *sim.World, f func()) {
	x := &freeing{Moment: m, world: w, fire: f, alarms: map[kernel.True]bool{}}
	trace.On(w.Events, func(e *history.Event) {
		if x.resource == "" && EventName(e) == "acquire-done" && e.Process == m.Client && (m.Resource == "" || m.Resource == e.Resource) {
			x.resource = e.Resource
			// Requests to nodes beyond the quorum may arrive at this very time.
			w.Kernel.After(0, x.look)
			return
		}
		if x.resource != "" && !x.over && e.Kind == history.Fault {
			x.look()
		}
	})
	trace.On(w.Events, func(a *redis.Applied) {
		if x.resource != "" && !x.over && !a.Set() && x.isOfLock(a.Key) {
			w.Kernel.After(0, x.look) // the command is still under way
		}
	})
}

// look fires if the moment has come, and else has itself called when it is to come as things are.
func (x *freeing) look() {
	if x.over {
		return
	}
	now := x.world.Kernel.Now()
	var free []kernel.True
	for _, s := range x.world.Servers {
		if s.Up() {
			free = append(free, max(x.freeAt(s), now))
		}
	}
	slices.Sort(free)
	nth := max(x.Nth, 1)
	if nth > len(free) || free[nth-1] == kernel.Forever {
		return
	}
	at := free[nth-1].Add(-x.Lead)
	if at <= now {
		x.over = true
		x.fire()
		return
	}
	if !x.alarms[at] {
		x.alarms[at] = true
		x.world.Kernel.After(at.Sub(now), x.look)
	}
}

// freeAt is when the keys of the lock are gone from a node, if nothing more happens to it.
func (x *freeing) freeAt(s *redis.Server) (at kernel.True) {
	for _, r := range s.Dump() {
		if x.isOfLock(r.Key) {
			at = max(at, s.RunsOut(r.ExpiresAt))
		}
	}
	return at
}

func (x *freeing) isOfLock(key string) bool {
	resource, is := x.world.LockOf(key)
	return is && resource == x.resource
}
