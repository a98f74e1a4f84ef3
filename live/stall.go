//go:build linux

package live

import (
	"sync/atomic"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// A machine that is busy with other things holds processes up, and a run then shows another scenario than the one that was
// to be played: a client comes too late for the lease it was to meet. So it is measured by how much things were held up.
const (
	// longStep is more than a step of the timeline takes, such as the start of a server.
	longStep = 500 * time.Millisecond

	pulseEvery = 5 * time.Millisecond
)

// disturbing is how long a scenario must be held up at a speed to be another one: half of the node timeout, as an answer waits
// for a server and for its client, but no more for clients that wait for long, as the moments of the others are as close
// together for them. It is less where a fault lasts for little more than the node timeout, or makes one message later than
// another by less; but what is less than a pulse is met on an idle machine, too.
func disturbing(s *scenarios.Scenario, speed int) time.Duration {
	least := min(nodeTimeout(s, speed), smallestNodeTimeout) / 2
	for i := range s.Timeline {
		if d, ok := s.Timeline[i].Fault.(*faults.Delay); ok {
			least = min(least, d.By/time.Duration(speed))
		}
	}
	for _, d := range beyondTimeout(s) {
		if more := d/time.Duration(speed) - nodeTimeout(s, speed); more > 0 {
			least = min(least, more)
		}
	}
	return max(least, pulseEvery)
}

// stalls is the longest time by which a run was held up so far.
type stalls struct {
	worst atomic.Int64
	ended chan struct{}
}

// watchStalls takes the pulse of the process, by short sleeps and how much longer they take, until over is closed.
func watchStalls(over <-chan struct{}) *stalls {
	s := &stalls{ended: make(chan struct{})}
	begin := trueTime()
	go func() {
		defer close(s.ended)
		for {
			select {
			case <-time.After(pulseEvery):
				now := trueTime()
				s.add(time.Duration(now-begin) - pulseEvery)
				begin = now
			case <-over:
				return
			}
		}
	}()
	return s
}

// add notes that something was held up for d.
func (s *stalls) add(d time.Duration) {
	for {
		worst := s.worst.Load()
		if int64(d) <= worst || s.worst.CompareAndSwap(worst, int64(d)) {
			return
		}
	}
}

// step notes that a step of a run that was due at a moment began and ended; the one before it ended at free.
func (s *stalls) step(due, free, began, ended int64) {
	s.add(time.Duration(began - max(due, free)))
	if took := time.Duration(ended - began); took > longStep {
		s.add(took)
	}
}

// forget begins anew.
func (s *stalls) forget() { s.worst.Store(0) }

func (s *stalls) longest() time.Duration { return time.Duration(s.worst.Load()) }
