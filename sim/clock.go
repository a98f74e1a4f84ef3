package sim

import (
	"math/bits"
	"time"
)

const billion = 1_000_000_000

// MaxRate bounds how wrong the rate of a clock can be, in parts per billion: half or one and a half times as fast.
const MaxRate = 500_000_000

// Clock is the pair of clocks of one process or node: a monotonic one and a wall clock. A rate error touches both, a
// step only the wall clock.
type Clock struct {
	k      *Kernel
	rate   int64 // parts per billion by which the clock is fast
	since  True  // since when it has this rate
	mono   Mono  // what it read then
	offset Wall  // wall − monotonic
}

func newClock(k *Kernel) *Clock { return &Clock{k: k, offset: Epoch} }

// Mono reads the monotonic clock.
func (c *Clock) Mono() Mono {
	return c.mono + Mono(scale(int64(c.k.now-c.since), billion+c.rate, billion))
}

// Wall reads the wall clock.
func (c *Clock) Wall() Wall { return Wall(c.Mono()) + c.offset }

// SetRate makes the clock run ppb parts per billion fast from now on, slow if negative; beyond ±MaxRate it panics.
func (c *Clock) SetRate(ppb int64) {
	if ppb < -MaxRate || ppb > MaxRate {
		panic("sim: clock rate out of range")
	}
	c.mono, c.since, c.rate = c.Mono(), c.k.now, ppb
	c.k.retime(c)
}

// Rate is by how many parts per billion the clock is fast.
func (c *Clock) Rate() int64 { return c.rate }

// Step moves the wall clock.
func (c *Clock) Step(by time.Duration) {
	c.offset += Wall(by)
	c.k.retime(c)
}

// whenMono is the first true time at which the monotonic clock reads m or later, if nothing happens to it.
func (c *Clock) whenMono(m Mono) True {
	if m <= c.mono {
		return c.since
	}
	return c.since + True(scaleUp(int64(m-c.mono), billion, billion+c.rate))
}

// deadline is a reading of one of the clocks of a process.
type deadline struct {
	clock *Clock
	wall  bool
	at    int64
}

// when is the first true time, from now on, at which the clock reads the deadline, if nothing happens to it.
func (d deadline) when() True {
	m := Mono(d.at)
	if d.wall {
		m = Mono(d.at - int64(d.clock.offset))
	}
	return max(d.clock.whenMono(m), d.clock.k.now)
}

// scale is ⌊n·num/den⌋ and scaleUp ⌈n·num/den⌉, for n ≥ 0, without overflow between.
func scale(n, num, den int64) int64 {
	if num == den {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(q)
}

func scaleUp(n, num, den int64) int64 {
	if num == den {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	q, r := bits.Div64(hi, lo, uint64(den))
	if r != 0 {
		q++
	}
	return int64(q)
}
