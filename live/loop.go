//go:build linux

package live

import (
	"context"
	"slices"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/stall"
)

// longStep is longer than any step of a timeline takes, such as the start of a server.
const longStep = 500 * time.Millisecond

// loop is the one goroutine on which everything in a run happens, one thing after the other, so that nothing needs locks: what
// is planned for a time, and what other goroutines post.
type loop struct {
	speed  int64        // how many times as fast as the scenario the run is
	stalls *stall.Meter // by how much the machine holds the run up
	failed error        // ends the run

	agenda []moment // what is planned, in the order in which it will happen
	queue  chan func()
	over   chan struct{} // closed when nothing more happens
}

// newLoop makes a loop with nothing planned. It must be ended.
func newLoop(speed int) loop {
	return loop{speed: int64(speed), queue: make(chan func()), over: make(chan struct{}), stalls: stall.Start()}
}

// moment is something that is to happen when CLOCK_MONOTONIC reads at.
type moment struct {
	at int64
	do func()
}

// until runs the loop until CLOCK_MONOTONIC reads end, or isOver, which it asks after everything that happens.
func (l *loop) until(ctx context.Context, end int64, isOver func() bool) error {
	for free := faketime.MachineTime(); ; free = faketime.MachineTime() {
		if l.failed != nil {
			return l.failed
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
			l.noteStep(next.at, free, began, faketime.MachineTime())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// noteStep notes by how much a step was held up, given when it was due, began and ended, and when the step before ended.
func (l *loop) noteStep(due, free, began, ended int64) {
	l.stalls.Note(time.Duration(began - max(due, free)))
	if took := time.Duration(ended - began); took > longStep {
		l.stalls.Note(took)
	}
}

// post has the loop call f.
func (l *loop) post(f func()) {
	select {
	case l.queue <- f:
	case <-l.over:
	}
}

// call has the loop call f, and returns when it has.
func (l *loop) call(f func()) {
	done := make(chan struct{})
	l.post(func() { f(); close(done) })
	select {
	case <-done:
	case <-l.over:
	}
}

// when has the loop call f when CLOCK_MONOTONIC reads at, behind what is planned for the same moment.
func (l *loop) when(at int64, f func()) {
	i, _ := slices.BinarySearchFunc(l.agenda, at, func(m moment, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	l.agenda = slices.Insert(l.agenda, i, moment{at, f})
}

// fail ends the run with an error, if there is one and it is the first, and returns it.
func (l *loop) fail(err error) error {
	if l.failed == nil {
		l.failed = err
	}
	return err
}

// end lets go of those who post: nothing more happens.
func (l *loop) end() {
	close(l.over)
	l.stalls.Stop()
}
