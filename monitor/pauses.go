package monitor

import "redlocksim/sim/kernel"

// pauses remembers when the clients last stood still.
type pauses struct {
	run  *Run
	now  map[*kernel.Process]bool
	last map[*kernel.Process]kernel.True // until when
}

func watchPauses(r *Run) *pauses {
	p := &pauses{run: r, now: map[*kernel.Process]bool{}, last: map[*kernel.Process]kernel.True{}}
	r.World.Kernel.OnChange(func() {
		for _, c := range r.World.Clients {
			if p.now[c] && !c.Paused() {
				p.last[c] = r.World.Kernel.Now()
			}
			p.now[c] = c.Paused()
		}
	})
	return p
}

// hasRun says whether a client has run since a true time without a pause, and does so still. What it was to do at the moment at
// which it went on it may not have done yet.
func (p *pauses) hasRun(c *kernel.Process, since kernel.True) bool {
	last, paused := p.last[c]
	return !c.Paused() && !c.Dead() && (!paused || last < since)
}
