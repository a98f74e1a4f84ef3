package kernel

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// oracle is a clock computed from the definition, in integers of any size.
type oracle struct {
	rate, since, mono int64
	steps             int64
}

func (o *oracle) read(now int64) int64 {
	n := new(big.Int).Mul(big.NewInt(now-o.since), big.NewInt(billion+o.rate))
	return o.mono + n.Div(n, big.NewInt(billion)).Int64()
}

// first is when the clock first reads m, if nothing happens to it.
func (o *oracle) first(m int64) int64 {
	switch {
	case m <= o.mono:
		return o.since
	case o.rate == Still:
		return int64(Forever)
	}
	n := new(big.Int).Mul(big.NewInt(m-o.mono), big.NewInt(billion))
	n.Add(n, big.NewInt(billion+o.rate-1))
	return o.since + n.Div(n, big.NewInt(billion+o.rate)).Int64()
}

func (o *oracle) setRate(now, rate int64) { o.mono, o.since, o.rate = o.read(now), now, rate }

var rates = rapid.OneOf(rapid.Int64Range(-MaxRate, MaxRate), rapid.SampledFrom([]int64{0, -MaxRate, MaxRate, 1, -1, Still}))

func TestClockReadsAsDefined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := New(Config{})
		c, o := newClock(&k.now, k.clockMoved), &oracle{}
		was := c.Mono()
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			k.now += True(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "wait"))
			mono, wall := c.Mono(), c.Wall()
			if int64(mono) != o.read(int64(k.now)) {
				t.Fatalf("the clock reads %d, want %d", mono, o.read(int64(k.now)))
			}
			if mono < was {
				t.Fatalf("the monotonic clock fell from %d to %d", was, mono)
			}
			if int64(wall) != int64(mono)+int64(Epoch)+o.steps {
				t.Fatalf("the wall clock reads %d, want %d after %d of steps", wall, mono, o.steps)
			}
			was = mono
			if rapid.Bool().Draw(t, "steps") {
				by := rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "by")
				c.Step(time.Duration(by))
				o.steps += by
			} else {
				rate := rates.Draw(t, "rate")
				c.SetRate(rate)
				o.setRate(int64(k.now), rate)
				if c.Wall() != wall {
					t.Fatalf("a change of rate moved the wall clock by %d", c.Wall()-wall)
				}
			}
			if c.Mono() != mono {
				t.Fatalf("the change moved the monotonic clock by %d", c.Mono()-mono)
			}
		}
	})
}

func TestClockWhenMonoIsTheFirstInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := New(Config{})
		k.now = True(rapid.Int64Range(0, 1e15).Draw(t, "since"))
		c := newClock(&k.now, k.clockMoved)
		c.SetRate(rates.Draw(t, "rate"))
		m := c.boot + Mono(rapid.Int64Range(1, 1e17).Draw(t, "ahead"))
		at := c.whenMono(m)
		if c.Rate() == Still {
			if at != Forever {
				t.Fatalf("a clock that stands still reads %d at %d", m, at)
			}
			return
		}
		k.now = at
		if c.Mono() < m {
			t.Fatalf("at %d it reads %d, not yet %d", at, c.Mono(), m)
		}
		if k.now = at - 1; c.Mono() >= m {
			t.Fatalf("at %d, before %d, it reads %d already", at-1, at, c.Mono())
		}
	})
}

func TestClockRateHasBounds(t *testing.T) {
	newClock(new(True), func(*Clock) {}).SetRate(Still)
	for _, ppb := range []int64{MaxRate + 1, -MaxRate - 1, Still + 1, Still - 1, math.MinInt64} {
		if !panics(func() { newClock(new(True), func(*Clock) {}).SetRate(ppb) }) {
			t.Errorf("the rate %d was taken", ppb)
		}
	}
}

func TestClocksThatHaveRunRight(t *testing.T) {
	now := True(0)
	c := newClock(&now, func(*Clock) {})
	for _, at := range []struct {
		now  True
		rate int64
	}{{10, 5}, {20, -5}, {30, 0}, {40, 0}} {
		now = at.now
		c.SetRate(at.rate)
		if at.rate != 0 && c.HasRunRight(now) {
			t.Errorf("at %d the rate is %d, and the clock runs right", now, at.rate)
		}
	}
	if c.HasRunRight(29) || !c.HasRunRight(30) {
		t.Errorf("since 29 it has run right: %v, since 30: %v", c.HasRunRight(29), c.HasRunRight(30))
	}
	if !newClock(&now, func(*Clock) {}).HasRunRight(0) {
		t.Error("a new clock has not run right")
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return
}

// change is something that happens to a clock on the way.
type change struct {
	at         int64
	rate, step int64
	keep       bool // the rate stays as it is
}

func drawChanges(t *rapid.T) []change {
	var changes []change
	at := int64(0)
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		at += rapid.Int64Range(0, 3000).Draw(t, "wait")
		c := change{at: at, rate: rates.Draw(t, "rate"), keep: rapid.Bool().Draw(t, "keep")}
		if rapid.Bool().Draw(t, "steps") {
			c.step = rapid.Int64Range(-3000, 3000).Draw(t, "by")
		}
		changes = append(changes, c)
	}
	return changes
}

// firstReading is when a clock that lives through the changes first reads target.
func firstReading(changes []change, target int64, wall bool) int64 {
	o := &oracle{}
	aim := func() int64 {
		if wall {
			return target - o.steps
		}
		return target
	}
	from := int64(0)
	for _, c := range changes {
		if o.read(from) >= aim() {
			return from
		}
		if at := o.first(aim()); at <= c.at {
			return at
		}
		if !c.keep {
			o.setRate(c.at, c.rate)
		}
		o.steps += c.step
		from = c.at
	}
	return max(from, o.first(aim()))
}

// reading is the kind of the steps that wait for a clock here.
var reading = NewStepKind(100, "reading")

// TestTimersAreExact: a timer goes off when the monotonic clock first reads its deadline, and so does what waits for a
// reading, whatever happens to the clock after they were set.
func TestTimersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := New(Config{})
		p := k.NewProcess("p", Monotonic)
		changes := drawChanges(t)
		at := rapid.Int64Range(1, 20_000).Draw(t, "deadline")
		var timer, mono, wall True
		p.after(time.Duration(at), func() { timer = k.now })
		p.when(deadline{clock: p.clock, at: at}, reading, func() { mono = k.now })
		p.WhenWall(Epoch+Wall(at), reading, func() { wall = k.now })
		for _, c := range changes {
			k.schedule(True(c.at), ordinary, nil, Label{kind: StepTimeline}, action(func() {
				if !c.keep {
					p.clock.SetRate(c.rate)
				}
				p.clock.Step(time.Duration(c.step))
			}), 0)
		}
		const end = 1_000_000
		k.Run(end)
		in := func(at int64) True { // zero if that is not in the run
			if at > end {
				return 0
			}
			return True(at)
		}
		want := in(firstReading(changes, at, false))
		if timer != want || mono != want {
			t.Errorf("the timer fires at %d, the reading comes at %d, want %d", timer, mono, want)
		}
		if want := in(firstReading(changes, at, true)); wall != want {
			t.Errorf("the reading of the wall clock comes at %d, want %d", wall, want)
		}
	})
}

func TestReadingComesBeforeAllElseAtThatTime(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*Clock)
	}{
		{"undisturbed", func(*Clock) {}},
		{"after a change of rate and back", func(c *Clock) { c.SetRate(1000); c.SetRate(0) }},
		{"moved there by a step", func(c *Clock) { c.Step(5) }},
	} {
		k := New(Config{})
		p := k.NewProcess("p", Monotonic)
		p.Pause() // does not hold the observation up
		var order string
		k.schedule(20, ordinary, nil, Label{kind: StepTimeline}, action(func() { order += "event " }), 0)
		until := int64(Epoch) + 20
		if test.name == "moved there by a step" {
			until += 5
		}
		p.WhenWall(Wall(until), reading, func() { order += "reading " })
		k.schedule(10, ordinary, nil, Label{kind: StepTimeline}, action(func() { test.do(p.clock) }), 0)
		k.Run(100)
		if order != "reading event " {
			t.Errorf("%s: %s", test.name, order)
		}
	}
}

func TestReadingIsTakenBack(t *testing.T) {
	k := New(Config{})
	p := k.NewProcess("p", Monotonic)
	fired := 0
	stop := p.WhenProgramClock(time.Unix(0, 10), reading, func() { fired++ })
	stop()
	stop()
	again := p.WhenProgramClock(time.Unix(0, 10), reading, func() { fired++ })
	k.Run(20)
	p.after(5, func() { fired += 10 }) // takes the event's place
	again()                            // too late: must not touch it
	k.Run(40)
	if fired != 11 {
		t.Errorf("fired %d, want one reading and the timer", fired)
	}
}

func TestTimer(t *testing.T) {
	k := New(Config{})
	p := k.NewProcess("p", Monotonic)
	for _, test := range []struct {
		name string
		do   func(*timer) bool // at 5, of a timer for 10
		want []True
		is   bool
	}{
		{"left alone", func(*timer) bool { return true }, []True{10}, true},
		{"stopped", (*timer).Stop, nil, true},
		{"stopped twice", func(t *timer) bool { t.Stop(); return t.Stop() }, nil, false},
		{"reset", func(t *timer) bool { t.Reset(10); return true }, []True{15}, true},
		{"stopped and reset", func(t *timer) bool { t.Stop(); t.Reset(1); return true }, []True{6}, true},
		{"reset to the past", func(t *timer) bool { t.Reset(-3); return true }, []True{5}, true},
		{"stopped while paused", func(t *timer) bool { p.Pause(); k.Run(k.now + 7); b := t.Stop(); p.Resume(); return b }, nil, true},
		{"reset while paused", func(t *timer) bool { p.Pause(); k.Run(k.now + 7); t.Reset(10); p.Resume(); return true }, []True{22}, true},
		{"late", func(t *timer) bool { p.Pause(); k.Run(k.now + 7); p.Resume(); return true }, []True{12}, true},
	} {
		start := k.now
		var fired []True
		timer := p.after(10, func() { fired = append(fired, k.now-start) })
		k.Run(start + 5)
		if is := test.do(timer); is != test.is {
			t.Errorf("%s: Stop says %v", test.name, is)
		}
		k.Run(start + 100)
		if len(fired) != len(test.want) || len(fired) == 1 && fired[0] != test.want[0] {
			t.Errorf("%s: fired at %v, want %v", test.name, fired, test.want)
		}
		if timer.Stop() {
			t.Errorf("%s: it could be stopped afterwards", test.name)
		}
	}
}

func TestFarDeadlinesDoNotFire(t *testing.T) {
	for _, test := range []struct {
		name string
		rate int64
		d    time.Duration
	}{{"sum", 0, math.MaxInt64}, {"slow clock", -MaxRate, math.MaxInt64 / 2}, {"fast clock", MaxRate, math.MaxInt64}} {
		k := New(Config{})
		p := k.NewProcess("p", Monotonic)
		p.clock.SetRate(test.rate)
		k.Run(1000)
		p.after(test.d, func() { t.Errorf("%s: a timer for %v fired at %d", test.name, test.d, k.now) })
		if test.rate == 0 {
			k.After(test.d, func() { t.Errorf("%s: what was put off for %v happened at %d", test.name, test.d, k.now) })
		}
		k.Run(1_000_000)
	}
}

func TestMillisecondsAreRoundedDown(t *testing.T) {
	for w, want := range map[Wall]int64{0: 0, 999_999: 0, 1_000_000: 1, -1: -1, -1_000_000: -1, -1_000_001: -2} {
		if got := w.Milliseconds(); got != want {
			t.Errorf("%d ns are %d ms, want %d", w, got, want)
		}
	}
}
