// Package stall measures by how much a busy machine holds processes up. A test or a scenario on real processes that was held up
// for long was another one than was written, and is tried again.
package stall

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// MaxAttempts is how often something is tried before it counts as not tested.
const MaxAttempts = 5

// Resolution is how often a Meter looks. Shorter delays occur on idle machines too.
const Resolution = 5 * time.Millisecond

// Meter measures the longest time for which the machine held this process up, by how late it wakes from short sleeps. If the
// kernel counts the time for which any thread waited for a processor (Linux with PSI), the Meter measures that too.
type Meter struct {
	worst       atomic.Int64
	waited      atomic.Int64
	over, ended chan struct{}
}

// Start measures until Stop.
func Start() *Meter {
	m := &Meter{over: make(chan struct{}), ended: make(chan struct{})}
	const waiting = pressure("/proc/pressure/cpu")
	go m.measure(waiting, time.Now(), waiting.read()) // read here: the goroutine may be held up before it runs
	return m
}

// measure looks again and again. waited is what the kernel said at begin.
func (m *Meter) measure(waiting pressure, begin time.Time, waited time.Duration) {
	defer close(m.ended)
	for run := time.Duration(0); ; {
		select {
		case <-time.After(Resolution):
		case <-m.over:
			return
		}
		now, more := time.Now(), waiting.read()
		m.waited.Add(int64(more - waited))
		took := now.Sub(begin)
		m.Note(took - Resolution)
		if run = lengthen(run, took, more-waited); run > Resolution {
			m.Note(run)
		}
		begin, waited = now, more
	}
}

// lengthen is for how long, up to now, threads have waited nearly all the time, if in the last took some waited for waited. A
// thread that waits for less gets a processor soon.
func lengthen(run, took, waited time.Duration) time.Duration {
	if waited < took*3/4 {
		return 0
	}
	return run + took
}

// Note notes that something was held up for d.
func (m *Meter) Note(d time.Duration) {
	for {
		worst := m.worst.Load()
		if int64(d) <= worst || m.worst.CompareAndSwap(worst, int64(d)) {
			return
		}
	}
}

// Longest is the longest time for which something was held up since Start or Reset.
func (m *Meter) Longest() time.Duration { return time.Duration(m.worst.Load()) }

// Waited is for how long any thread of the machine has waited for a processor since Start; zero if the kernel does not say.
func (m *Meter) Waited() time.Duration { return time.Duration(m.waited.Load()) }

// Reset forgets what was held up so far.
func (m *Meter) Reset() { m.worst.Store(0) }

// Stop ends the measurement. It must be called once.
func (m *Meter) Stop() {
	close(m.over)
	<-m.ended
}

// pressure is the file in which the kernel says for how long threads have waited for a processor.
type pressure string

// read is for how long some thread has waited since the machine started; zero if the kernel does not say.
func (p pressure) read() time.Duration {
	text, err := os.ReadFile(string(p))
	if err != nil {
		return 0
	}
	var ten, sixty, threeHundred float64
	var total int64 // µs
	const format = "some avg10=%f avg60=%f avg300=%f total=%d"
	if _, err := fmt.Sscanf(string(text), format, &ten, &sixty, &threeHundred, &total); err != nil {
		return 0
	}
	return time.Duration(total) * time.Microsecond
}
