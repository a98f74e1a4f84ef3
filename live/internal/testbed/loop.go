//go:build linux

package testbed

import (
	"context"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/stall"
)

// longStep is longer than any step of a timeline takes, such as the start of a server.
const longStep = 500 * time.Millisecond

// Loop is the one goroutine on which everything in a run happens, one thing after the other, so that nothing needs locks: what
// is planned for a time, and what other goroutines post.
type Loop struct {
	Speed  int64        // how many times as fast as the scenario the run is
	Stalls *stall.Meter // by how much the machine holds the run up
	Failed error        // ends the run

	agenda []*Moment // what is planned, in the order in which it will happen
	queue  chan func()
	over   chan struct{} // closed when nothing more happens
}

// newLoop makes a loop with nothing planned. It must be ended.
func newLoop(speed int) *Loop {
	return &Loop{Speed: int64(speed), queue: make(chan func()), over: make(chan struct{}), Stalls: stall.Start()}
}

// Moment is something that is to happen when CLOCK_MONOTONIC reads at.
type Moment struct {
	at int64
	do func()
}

// Until runs the loop until CLOCK_MONOTONIC reads end, or isOver, which it asks after everything that happens.
func (l *Loop) Until(ctx context.Context, end int64, isOver func() bool) error {
	for free := faketime.MachineTime(); ; free = faketime.MachineTime() {
		if l.Failed != nil {
			return l.Failed
		}
		if isOver() {
			return nil
		}
		next := end
		if len(l.agenda) > 0 {
			next = min(next, l.agenda[0].at)
		}
		select {
		case f := <-l.queue:
			f()
		case <-time.After(time.Duration(next - faketime.MachineTime())):
			if next == end {
				return nil
			}
			next := l.agenda[0]
			l.agenda = l.agenda[1:]
			began := faketime.MachineTime()
			next.do()
			noteStep(l.Stalls, next.at, free, began, faketime.MachineTime())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// post has the loop call f.
func (l *Loop) post(f func()) {
	select {
	case l.queue <- f:
	case <-l.over:
	}
}

// Call has the loop call f, and returns when it has.
func (l *Loop) Call(f func()) {
	done := make(chan struct{})
	l.post(func() { f(); close(done) })
	select {
	case <-done:
	case <-l.over:
	}
}

// After has the loop call f when d of the scenario's time has passed since at, behind what is planned for the same moment.
func (l *Loop) After(at int64, d time.Duration, f func()) { l.When(at+int64(d)/l.Speed, f) }

// When has the loop call f when CLOCK_MONOTONIC reads at.
func (l *Loop) When(at int64, f func()) *Moment {
	m := &Moment{at, f}
	i, _ := slices.BinarySearchFunc(l.agenda, at, func(m *Moment, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	l.agenda = slices.Insert(l.agenda, i, m)
	return m
}

// Drop takes a moment off the agenda, if it has not come yet.
func (l *Loop) Drop(m *Moment) {
	l.agenda = slices.DeleteFunc(l.agenda, func(x *Moment) bool { return x == m })
}

// IsIdle reports that nothing is planned.
func (l *Loop) IsIdle() bool { return len(l.agenda) == 0 }

// fail ends the run with an error, if there is one and it is the first.
func (l *Loop) fail(err error) {
	if l.Failed == nil {
		l.Failed = err
	}
}

// end lets go of those who post: nothing more happens.
func (l *Loop) end() {
	close(l.over)
	l.Stalls.Stop()
}

// noteStep notes by how much a step of a run was held up, given when it was due, began and ended, and when the step before
// ended.
func noteStep(m *stall.Meter, due, free, began, ended int64) {
	m.Note(time.Duration(began - max(due, free)))
	if took := time.Duration(ended - began); took > longStep {
		m.Note(took)
	}
}
