//go:build linux

package live

import (
	"redlocksim/live/internal/client"
	"redlocksim/sim/history"
)

// happened takes down an event that happened when CLOCK_MONOTONIC read at, and tells of it.
func (r *run) happened(at int64, e history.Event) {
	r.entries = append(r.entries, entry{at: at, process: e.Process, event: &e})
	for _, f := range r.hear {
		f(r.trueTime(at), &e)
	}
}

// startClient starts a client process, whose notices are taken down. It is not among clients yet.
func (r *run) startClient(name string, begin client.Order) (*process, error) {
	return startProcess(r.options.Client, name, begin, func(c *process, n client.Notice) {
		r.post(func() { r.notice(c, n) })
	}, func(c *process, why error) {
		r.post(func() {
			if c.isUp { // we did not end it
				_ = r.fail(why)
			}
		})
	})
}

// notice acts on a notice of a client.
func (r *run) notice(c *process, n client.Notice) {
	switch {
	case n.Event != nil:
		r.happened(n.At, *n.Event)
		if n.Wait > 0 && c.isUp {
			c.send(client.Order{Go: n.Wait})
		}
	case n.Belief != nil:
		r.entries = append(r.entries, entry{at: n.At, process: c.name, belief: n.Belief})
	case n.Done > 0:
		c.running--
	}
}
