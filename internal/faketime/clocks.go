//go:build linux

package faketime

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MachineTime reads CLOCK_MONOTONIC in nanoseconds, which all processes of the machine share.
func MachineTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("faketime: CLOCK_MONOTONIC: %v", err)) // every Linux has it
	}
	return ts.Nano()
}

// bracket reads a clock between two readings of CLOCK_MONOTONIC. It returns the narrowest of some pairs, as the process may be
// interrupted within one.
func bracket(read func() time.Time) (t time.Time, at int64) {
	width := int64(Never)
	for range 1000 {
		before := MachineTime()
		now := read()
		if after := MachineTime(); after-before < width {
			width = after - before
			t, at = now, before+width/2
		}
	}
	return t, at
}

// Anchor is one moment by Go's clock and by CLOCK_MONOTONIC. As both run alike, it converts readings of one into the other.
type Anchor struct {
	moment time.Time
	at     int64
}

// NewAnchor takes the moment.
func NewAnchor() Anchor {
	moment, at := bracket(time.Now)
	return Anchor{moment, at}
}

// MachineTime is what CLOCK_MONOTONIC reads at t, a time that [time.Now] returned.
func (a Anchor) MachineTime(t time.Time) int64 { return a.at + int64(t.Sub(a.moment)) }

// Clocks are the clocks of a process: one that counts the time for which the machine is suspended (CLOCK_BOOTTIME), one that
// does not (CLOCK_MONOTONIC), and the wall clock. All three count the same oscillations, so a rate applies to all. One process
// changes them; any number read them.
type Clocks struct {
	path   string
	memory []byte
	// suspended is what the monotonic clock stands at; nil if it runs. Only the process that suspends it knows.
	suspended *int64
}

// What the file holds, in words of 8 bytes; preload/preload.c has the same.
const (
	wordChanges = iota // how often the next five were changed; odd during a change
	wordSince          // these three are the Skew of the clock that counts suspension
	wordAhead
	wordRate
	wordSteps // by how much the wall clock was stepped
	wordLost  // for how long the monotonic clock stood still
	wordEpoch // what the wall clock reads when CLOCK_MONOTONIC reads 0 and nothing was changed
	clockWords
)

type state struct {
	boot        Skew
	steps, lost int64
}

func (s state) monotonic() Skew {
	s.boot.Ahead -= s.lost
	return s.boot
}

func (s state) wall() Skew {
	s.boot.Ahead += s.steps
	return s.boot
}

// New makes the file, with clocks that are the machine's. There must be none of that name.
func New(path string) (*Clocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("faketime: %w", err)
	}
	defer f.Close()
	if err := f.Truncate(fileSize); err != nil {
		return nil, fmt.Errorf("faketime: %w", err)
	}
	c, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	wall, at := bracket(time.Now)
	*c.word(wordEpoch) = wall.UnixNano() - at
	return c, nil
}

// Open opens a file that New made.
func Open(path string) (*Clocks, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("faketime: %w", err)
	}
	defer f.Close()
	return mapFile(f)
}

func mapFile(f *os.File) (*Clocks, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, fileSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("faketime: map %s: %w", f.Name(), err)
	}
	return &Clocks{path: f.Name(), memory: memory}, nil
}

// Path is the name of the file.
func (c *Clocks) Path() string { return c.path }

// Preload is what the environment of a process needs to have these clocks, as in [exec.Cmd.Env]. A process that cannot map
// them exits with status 1, so that none runs on the machine's unnoticed.
func (c *Clocks) Preload(library string) []string {
	return []string{"LD_PRELOAD=" + library, "REDLOCKSIM_FAKETIME=" + c.path}
}

// Close unmaps the file. The Clocks must not be used any more.
func (c *Clocks) Close() error { return unix.Munmap(c.memory) }

func (c *Clocks) word(i int) *int64 { return (*int64)(unsafe.Pointer(&c.memory[8*i])) }

// state reads the file, again if it was being changed.
func (c *Clocks) state() state {
	for {
		before := atomic.LoadInt64(c.word(wordChanges))
		s := state{
			boot:  Skew{atomic.LoadInt64(c.word(wordSince)), atomic.LoadInt64(c.word(wordAhead)), atomic.LoadInt64(c.word(wordRate))},
			steps: atomic.LoadInt64(c.word(wordSteps)),
			lost:  atomic.LoadInt64(c.word(wordLost)),
		}
		if before%2 == 0 && atomic.LoadInt64(c.word(wordChanges)) == before {
			return s
		}
	}
}

// change changes the clocks, and returns the reading of CLOCK_MONOTONIC at which it did.
func (c *Clocks) change(f func(now int64, s *state)) int64 {
	now, s := MachineTime(), c.state()
	f(now, &s)
	atomic.AddInt64(c.word(wordChanges), 1)
	atomic.StoreInt64(c.word(wordSince), s.boot.Since)
	atomic.StoreInt64(c.word(wordAhead), s.boot.Ahead)
	atomic.StoreInt64(c.word(wordRate), s.boot.Rate)
	atomic.StoreInt64(c.word(wordSteps), s.steps)
	atomic.StoreInt64(c.word(wordLost), s.lost)
	atomic.AddInt64(c.word(wordChanges), 1)
	return now
}

// Step moves the wall clock, forward or back, and leaves its rate as it is. Like the other changes, it returns the reading of
// CLOCK_MONOTONIC from which it holds.
func (c *Clocks) Step(by time.Duration) int64 {
	return c.change(func(_ int64, s *state) { s.steps += int64(by) })
}

// SetRate makes all clocks run that many parts per billion fast from now on.
func (c *Clocks) SetRate(rate int64) int64 {
	return c.change(func(now int64, s *state) { s.boot = s.boot.WithRate(now, rate) })
}

// StandAt makes the wall clock read t and all clocks stand still, until SetRate.
func (c *Clocks) StandAt(t time.Time) int64 {
	return c.change(func(now int64, s *state) {
		s.boot = s.boot.WithRate(now, Standing)
		s.steps = t.UnixNano() - c.epoch() - s.boot.Read(now)
	})
}

// Suspend makes the monotonic clock stand still until Wake, as that of a suspended machine does.
func (c *Clocks) Suspend() int64 {
	now := MachineTime()
	if c.suspended == nil {
		at := c.state().monotonic().Read(now)
		c.suspended = &at
	}
	return now
}

// IsSuspended reports whether Suspend was called last, on these Clocks, rather than Wake.
func (c *Clocks) IsSuspended() bool { return c.suspended != nil }

// Wake makes the monotonic clock run on from where it stands.
func (c *Clocks) Wake() int64 {
	return c.change(func(now int64, s *state) {
		if c.suspended != nil {
			s.lost += s.monotonic().Read(now) - *c.suspended
			c.suspended = nil
		}
	})
}

// Boottime is the clock that counts suspension, as it runs now.
func (c *Clocks) Boottime() Skew { return c.state().boot }

// Monotonic is the clock that does not count suspension, as it runs now.
func (c *Clocks) Monotonic() Skew {
	if c.suspended != nil {
		now := MachineTime()
		return Skew{now, *c.suspended - now, Standing}
	}
	return c.state().monotonic()
}

// Wall is the wall clock, as it runs now, with the epoch of CLOCK_MONOTONIC.
func (c *Clocks) Wall() Skew { return c.state().wall() }

func (c *Clocks) epoch() int64 { return *c.word(wordEpoch) }

// WallNow reads the wall clock.
func (c *Clocks) WallNow() time.Time { return time.Unix(0, c.epoch()+c.Wall().Read(MachineTime())) }

// WhenWall is the reading of CLOCK_MONOTONIC, not before now, at which the wall clock reads t or more if nothing is changed.
func (c *Clocks) WhenWall(t time.Time) int64 {
	return max(MachineTime(), c.Wall().When(t.UnixNano()-c.epoch()))
}
