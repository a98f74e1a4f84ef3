//go:build linux

package live

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"redlocksim/sim"
)

// clocks are the clocks of a process, as faults make them of the machine's. They are in a file that is mapped into that
// process, which reads them, and into its parent, which changes them: also while the process stands still, so that what it
// sees when it goes on is what was to have happened meanwhile.
type clocks struct {
	path   string
	memory []byte
	// suspended is what the process's monotonic clock has stood at; nil if it runs. Only the parent needs it.
	suspended *int64
}

// What is in the memory, in words of 8 bytes; preload/preload.c reads the same.
const (
	wordChanges = iota // how often the others were changed; odd while they are
	wordSince
	wordAhead
	wordRate
	wordSteps
	wordLost
	clockWords
)

// clockState is what there is in the memory: a line for all clocks, which count the same oscillations, by how much the wall
// clock was stepped, and for how long the monotonic one stood still.
type clockState struct {
	boot        line
	steps, lost int64
}

// line is what one of the clocks reads. The wall clock has the epoch of the monotonic one here.
func (s clockState) line(kind sim.ClockKind) line {
	l := s.boot
	switch kind {
	case sim.Monotonic:
		l.ahead -= s.lost
	case sim.WallClock:
		l.ahead += s.steps
	}
	return l
}

// wall is what the wall clock reads, in nanoseconds since 1970.
func (c *clocks) wall() int64 {
	now := trueTime()
	return time.Now().UnixNano() + c.state().line(sim.WallClock).read(now) - now
}

// newClocks makes the memory, of a size in bytes, with clocks that are the machine's.
func newClocks(path string, size int) (*clocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	return mapClocks(f, size)
}

// openClocks are the clocks that a parent has made.
func openClocks(path string) (*clocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapClocks(f, 8*clockWords)
}

func mapClocks(f *os.File, size int) (*clocks, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("live: %s: %w", f.Name(), err)
	}
	return &clocks{path: f.Name(), memory: memory}, nil
}

func (c *clocks) close() error { return unix.Munmap(c.memory) }

func (c *clocks) word(i int) *int64 { return (*int64)(unsafe.Pointer(&c.memory[8*i])) }

// state reads the memory, again if it was being changed.
func (c *clocks) state() clockState {
	for {
		before := atomic.LoadInt64(c.word(wordChanges))
		s := clockState{
			boot:  line{atomic.LoadInt64(c.word(wordSince)), atomic.LoadInt64(c.word(wordAhead)), atomic.LoadInt64(c.word(wordRate))},
			steps: atomic.LoadInt64(c.word(wordSteps)),
			lost:  atomic.LoadInt64(c.word(wordLost)),
		}
		if before%2 == 0 && atomic.LoadInt64(c.word(wordChanges)) == before {
			return s
		}
	}
}

// change changes the clocks, and returns the reading of CLOCK_MONOTONIC at which it did.
func (c *clocks) change(f func(now int64, s *clockState)) int64 {
	now, s := trueTime(), c.state()
	f(now, &s)
	atomic.AddInt64(c.word(wordChanges), 1)
	atomic.StoreInt64(c.word(wordSince), s.boot.since)
	atomic.StoreInt64(c.word(wordAhead), s.boot.ahead)
	atomic.StoreInt64(c.word(wordRate), s.boot.rate)
	atomic.StoreInt64(c.word(wordSteps), s.steps)
	atomic.StoreInt64(c.word(wordLost), s.lost)
	atomic.AddInt64(c.word(wordChanges), 1)
	return now
}

// step moves the wall clock.
func (c *clocks) step(by int64) int64 {
	return c.change(func(_ int64, s *clockState) { s.steps += by })
}

// setRate has all clocks run that many parts per billion fast from now on.
func (c *clocks) setRate(rate int64) int64 {
	return c.change(func(now int64, s *clockState) { s.boot = s.boot.turn(now, rate) })
}

// suspend has the monotonic clock of a process that stands still stand still too, until wake.
func (c *clocks) suspend() int64 {
	now := trueTime()
	if c.suspended == nil {
		at := c.state().line(sim.Monotonic).read(now)
		c.suspended = &at
	}
	return now
}

// wake has the monotonic clock go on where it stands.
func (c *clocks) wake() int64 {
	return c.change(func(now int64, s *clockState) {
		if c.suspended != nil {
			s.lost += s.line(sim.Monotonic).read(now) - *c.suspended
			c.suspended = nil
		}
	})
}

// line is what one of the clocks reads, from now on.
func (c *clocks) line(kind sim.ClockKind) line {
	if c.suspended != nil && kind == sim.Monotonic {
		now := trueTime()
		return line{now, *c.suspended - now, standing}
	}
	return c.state().line(kind)
}
