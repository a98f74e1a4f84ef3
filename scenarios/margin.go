package scenarios

import (
	"slices"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// Margin is the nearest miss of a run: of all leases that ran out by their clients' clocks, the one for which a
// quorum of nodes was free again the soonest.
type Margin struct {
	// Grant is the lease, and Client its holder.
	Grant  int
	Client string
	// Expiry is when the holder's belief ran out, and Free the first moment at which another client could collect a
	// quorum of votes, as far as the nodes' clocks showed at Expiry.
	Expiry, Free kernel.True
}

// Slack is the true time from the one to the other. If it is negative, somebody who asked at the right moment would have
// been granted the lock too early.
func (m Margin) Slack() time.Duration { return m.Free.Sub(m.Expiry) }

// margins watches a run for its Margin. The nodes must all be redis.RemovalTracker; otherwise, and for protocols that do
// not vote, nothing is seen. Leases that end by a release are not looked at.
type margins struct {
	world   *sim.World
	quorum  int
	guarded bool
	narrow  *Margin // by itself: who keeps it does not keep the world; nil until a lease has run out
}

func watchMargins(w *sim.World, s *Scenario) *margins {
	m := &margins{world: w, guarded: protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil}
	var voted bool
	if m.quorum, voted = s.Lock.Votes(len(w.Servers)); !voted || !protocols.Has[protocols.DriftSettings](s.Lock) {
		return m
	}
	for _, server := range w.Servers {
		memory, ok := server.Memory().(redis.RemovalTracker)
		if !ok {
			return m
		}
		memory.TrackRemovals()
	}
	trace.On(w.Events, func(e *history.Event) {
		if e.Kind == history.Expire && e.Detail == "" {
			m.score(e)
		}
	})
	return m
}

// score looks at a belief that has just run out.
func (m *margins) score(e *history.Event) {
	granted := m.granted(e.Grant)
	free := make([]kernel.True, len(m.world.Servers))
	for i, server := range m.world.Servers {
		free[i] = kernel.Forever
		// A guard keeps a node that was restarted from voting for longer than this lease.
		if server.Up() && !(m.guarded && server.Restarted()) {
			free[i] = server.Memory().(redis.RemovalTracker).Freed(e.Resource, granted)
		}
	}
	slices.Sort(free)
	at := free[m.quorum-1]
	if at == kernel.Forever {
		return
	}
	this := &Margin{Grant: e.Grant, Client: e.Process, Expiry: kernel.True(e.Time), Free: at}
	if m.narrow == nil || this.Slack() < m.narrow.Slack() {
		m.narrow = this
	}
}

// granted is when a grant was returned.
func (m *margins) granted(grant int) kernel.True {
	h := m.world.History()
	for i := len(h) - 1; i >= 0; i-- {
		if e := &h[i]; e.Kind == history.Return && e.Op == grant {
			return kernel.True(e.Time)
		}
	}
	return 0
}
