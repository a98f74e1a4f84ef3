package kernel

import (
	"math"
	"math/bits"
	"time"
)

const billion = 1_000_000_000

// MaxRate bounds how wrong the rate of a clock can be, in parts per billion: half or one and a half times as fast.
const MaxRate = 500_000_000

// Still is the rate of clocks that stand still.
const Still = -billion

// Clock is the clocks of one process or node, which count the same oscillations: a monotonic clock, one that counts the
// time of suspension too, and a wall clock. A rate error touches all of them, a step only the wall clock, and suspension
// stops only the monotonic one.
type Clock struct {
	now         *True        // true time
	moved       func(*Clock) // is told when readings come at other true times than before
	rate        int64        // parts per billion by which the clocks are fast
	since       True         // since when they have this rate
	wrong       True         // until when they last ran at another rate than true time
	boot        Mono         // what the one that counts suspension read then
	offset      Wall         // wall − boot
	stepped     True         // when the wall clock was stepped last
	lost        Mono         // boot − monotonic: the time spent suspended before
	suspended   bool
	suspendedAt Mono // boot when the suspension under way began
}

// ClockKind is one of a process's clocks.
type ClockKind uint8

const (
	// Monotonic is CLOCK_MONOTONIC, which Go uses. The zero value.
	Monotonic ClockKind = iota
	// Boottime is CLOCK_BOOTTIME: monotonic, and counts the time for which the machine was suspended.
	Boottime
	// WallClock is CLOCK_REALTIME: it can be stepped.
	WallClock
)

func newClock(now *True, moved func(*Clock)) *Clock {
	return &Clock{now: now, moved: moved, offset: Epoch}
}

// Boot reads the clock that counts suspension.
func (c *Clock) Boot() Mono { return c.bootAt(*c.now) }

// bootAt is what it reads at a true time from now on, if nothing happens to it.
func (c *Clock) bootAt(at True) Mono {
	return c.boot + Mono(Scale(int64(at-c.since), billion+c.rate, billion))
}

// Mono reads the monotonic clock.
func (c *Clock) Mono() Mono { return c.monoAt(*c.now) }

func (c *Clock) monoAt(at True) Mono {
	if c.suspended {
		return c.suspendedAt - c.lost
	}
	return c.bootAt(at) - c.lost
}

// Wall reads the wall clock.
func (c *Clock) Wall() Wall { return Wall(c.Boot()) + c.offset }

// readAt is what one of the clocks reads at a true time from now on, in nanoseconds since its own epoch.
func (c *Clock) readAt(kind ClockKind, at True) int64 {
	switch kind {
	case Boottime:
		return int64(c.bootAt(at))
	case WallClock:
		return int64(Wall(c.bootAt(at)) + c.offset)
	}
	return int64(c.monoAt(at))
}

// SetRate makes the clocks run ppb parts per billion fast from now on, slow if negative; beyond ±MaxRate it panics, unless
// they are to stand Still.
func (c *Clock) SetRate(ppb int64) {
	if ppb != Still && (ppb < -MaxRate || ppb > MaxRate) {
		panic("sim: clock rate out of range")
	}
	if c.rate != 0 {
		c.wrong = *c.now
	}
	c.boot, c.since, c.rate = c.Boot(), *c.now, ppb
	c.moved(c)
}

// Suspended says whether the monotonic clock stands still because the machine is suspended.
func (c *Clock) Suspended() bool { return c.suspended }

// Rate is by how many parts per billion the clocks are fast.
func (c *Clock) Rate() int64 { return c.rate }

// HasRunRight says whether the clocks have run at the rate of true time since a moment.
func (c *Clock) HasRunRight(since True) bool { return c.rate == 0 && c.wrong <= since }

// Step moves the wall clock.
func (c *Clock) Step(by time.Duration) {
	c.offset += Wall(by)
	c.stepped = *c.now
	c.moved(c)
}

// suspend stops the monotonic clock until wake.
func (c *Clock) suspend() {
	if !c.suspended {
		c.suspended, c.suspendedAt = true, c.Boot()
		c.moved(c)
	}
}

func (c *Clock) wake() {
	if c.suspended {
		c.lost += c.Boot() - c.suspendedAt
		c.suspended = false
		c.moved(c)
	}
}

// whenBoot is the first true time at which the clock that counts suspension reads b or later, if nothing happens to it; never,
// if it stands still before b.
func (c *Clock) whenBoot(b Mono) True {
	if b <= c.boot {
		return c.since
	}
	if c.rate == Still {
		return Forever
	}
	return c.since.Add(time.Duration(scaleUp(int64(b-c.boot), billion, billion+c.rate)))
}

// whenMono is the same for the monotonic clock: never, if it stands still before m.
func (c *Clock) whenMono(m Mono) True {
	if c.suspended && c.Mono() < m {
		return Forever
	}
	return c.whenBoot(Mono(True(m).Add(time.Duration(c.lost)))) // a reading can be as late as Forever
}

// WhenWall is the first true time, since the wall clock was last stepped, at which it reads w or later: in the past, or in
// the future if nothing happens to the clock.
func (c *Clock) WhenWall(w Wall) True {
	return max(c.whenBoot(Mono(w-c.offset)), c.stepped)
}

// deadline is a reading of one of the clocks of a process.
type deadline struct {
	clock *Clock
	kind  ClockKind
	at    int64
}

// when is the first true time, from now on, at which the clock reads the deadline, if nothing happens to it.
func (d deadline) when() True {
	var at True
	switch d.kind {
	case Boottime:
		at = d.clock.whenBoot(Mono(d.at))
	case WallClock:
		at = d.clock.whenBoot(Mono(d.at - int64(d.clock.offset)))
	default:
		at = d.clock.whenMono(Mono(d.at))
	}
	return max(at, *d.clock.now)
}

// Scale is ⌊n·num/den⌋, for n ≥ 0, without overflow on the way.
func Scale(n, num, den int64) int64 {
	if num == den {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(q)
}

// scaleUp is ⌈n·num/den⌉, for n ≥ 0, at most the largest integer.
func scaleUp(n, num, den int64) int64 {
	if num == den {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return math.MaxInt64
	}
	q, r := bits.Div64(hi, lo, uint64(den))
	if r != 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// True is an instant of true time: nanoseconds since the start of the run. No process can read it.
type True int64

// Mono is a reading of a process's monotonic clock, in nanoseconds since the start of the run.
type Mono int64

// Wall is a reading of a process's wall clock, in nanoseconds since the Unix epoch.
type Wall int64

// Epoch is what a wall clock that is right reads at the start of a run.
const Epoch Wall = 1_700_000_000 * 1e9

// Forever is later than every instant of a run.
const Forever True = 1<<63 - 1

// Add is the instant d later, at most Forever.
func (t True) Add(d time.Duration) True {
	if d > 0 && t > Forever-True(d) {
		return Forever
	}
	return t + True(d)
}

// Sub is the time from u to t.
func (t True) Sub(u True) time.Duration { return time.Duration(t - u) }

// Milliseconds is the reading in whole milliseconds, rounded down.
func (w Wall) Milliseconds() int64 {
	if w < 0 {
		return -int64((-w + 1e6 - 1) / 1e6)
	}
	return int64(w) / 1e6
}
