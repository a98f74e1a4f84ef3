// Package undisturbed says by how much a machine that is busy with other things held a process up. What real processes do in
// real time is then another thing than what they were to do, and is done again.
package undisturbed

import (
	"sync/atomic"
	"time"
)

// Most is how often something is done until it counts.
const Most = 5

// PulseEvery is how often a Pulse looks: what is shorter is met on an idle machine, too.
const PulseEvery = 5 * time.Millisecond

// Pulse measures the longest time for which a machine held this process up, by short sleeps and how much longer they take, or
// any process at all, by the time in which some thread was ready to run and had no processor, where the kernel tells that
// (Linux with PSI).
type Pulse struct {
	worst       atomic.Int64
	over, ended chan struct{}
}

// Begin takes the pulse until End.
func Begin() *Pulse {
	p := &Pulse{over: make(chan struct{}), ended: make(chan struct{})}
	waiting := openPressure("/proc/pressure/cpu")
	go p.take(waiting, time.Now(), waiting.read()) // read here: it may be held up before it runs
	return p
}

// take looks again and again. waited is what the kernel said at begin.
func (p *Pulse) take(waiting *pressure, begin time.Time, waited time.Duration) {
	defer close(p.ended)
	defer waiting.close()
	for run := time.Duration(0); ; {
		select {
		case <-time.After(PulseEvery):
		case <-p.over:
			return
		}
		now, more := time.Now(), waiting.read()
		took := now.Sub(begin)
		p.Add(took - PulseEvery)
		if run = lengthen(run, took, more-waited); run > PulseEvery {
			p.Add(run)
		}
		begin, waited = now, more
	}
}

// lengthen is the time, up to now, for which threads waited nearly all the time, when in the last took of it some waited for
// so long. Who waits for less than that gets a processor soon.
func lengthen(run, took, waited time.Duration) time.Duration {
	if waited < took*3/4 {
		return 0
	}
	return run + took
}

// Add notes that something was held up for d.
func (p *Pulse) Add(d time.Duration) {
	for {
		worst := p.worst.Load()
		if int64(d) <= worst || p.worst.CompareAndSwap(worst, int64(d)) {
			return
		}
	}
}

// Longest is the longest time for which something was held up since Begin or Forget.
func (p *Pulse) Longest() time.Duration { return time.Duration(p.worst.Load()) }

// Forget begins anew.
func (p *Pulse) Forget() { p.worst.Store(0) }

// End takes the pulse no more. It must be called once.
func (p *Pulse) End() {
	close(p.over)
	<-p.ended
}
