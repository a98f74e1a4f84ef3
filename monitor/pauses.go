package monitor

import "redlocksim/sim/kernel"

// pauses remembers when clients and nodes last stood still, and when nodes last were down.
type pauses struct {
	now  map[*kernel.Process]bool
	last map[*kernel.Process]kernel.True // until when
}

func watchPauses(r *Run) *pauses {
	p := &pauses{now: map[*kernel.Process]bool{}, last: map[*kernel.Process]kernel.True{}}
	look := func(x *kernel.Process, still bool) {
		if p.now[x] && !still {
			p.last[x] = r.World.Kernel.Now()
		}
		p.now[x] = still
	}
	r.World.Kernel.OnChange(func() {
		for _, c := range r.World.Clients {
			look(c, c.Paused())
		}
		for _, s := range r.World.Servers {
			look(s.Process, s.Paused() || !s.Up())
		}
	})
	return p
}

// hasRun says whether a client or node has run since a true time without a pause, and does so still. What it was to do at the
// moment at which it went on it may not have done yet.
func (p *pauses) hasRun(x *kernel.Process, since kernel.True) bool {
	last, paused := p.last[x]
	return !p.now[x] && !x.Dead() && (!paused || last < since)
}
