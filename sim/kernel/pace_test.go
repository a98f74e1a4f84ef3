package kernel

import (
	"testing"
	"time"
)

// slow is a process whose every step takes 10.
func slow() *talk {
	s := newTalk()
	s.p.Takes(func(Key) time.Duration { return 10 })
	return s
}

// The code goes ahead of the run: each reading is a step later than the one before, messages leave a step after those, and
// timers run from there. A process that waited for longer has caught up.
func TestStepsTakeTime(t *testing.T) {
	s := slow()
	defer s.k.Close()
	clock := s.p.WorkClock()
	read := func() { s.say("reads %d", clock.Now().UnixNano()) }
	s.k.After(100, func() {
		s.p.Go(func() {
			read()
			read()
			s.say("at %d without a step", s.p.ProgramClock().Now().UnixNano())
			s.say("sends at %d", s.p.Sends(1))
			s.p.Sleep(background, 5)
			s.say("slept")
			read()
			s.p.Sleep(background, 100)
			read()
		})
	})
	s.k.Run(1000)
	s.want(t, "100 reads 110; 100 reads 120; 100 at 120 without a step; 100 sends at 130; 135 slept; 135 reads 145; 245 reads 255")
}

// What is left of a step when the process is paused takes as long afterwards, however often it is paused.
func TestAStepWaitsForTheEndOfAPause(t *testing.T) {
	s := slow()
	clock := s.p.WorkClock()
	s.k.After(100, func() { clock.Now() })
	s.k.After(104, s.p.Pause)
	s.k.After(107, s.p.Pause)
	s.k.After(200, func() {
		s.p.Resume()
		s.say("at %d", s.p.ProgramClock().Now().UnixNano())
	})
	s.k.Run(300)
	s.want(t, "200 at 206")
}

// Code that is running when its process is paused, as when it reports what it does, has taken time until it ends. That is not
// undone by the end of the pause: what it read then is no later than what is sent afterwards.
func TestCodeThatIsPausedHasTakenTime(t *testing.T) {
	s := slow()
	clock := s.p.WorkClock()
	s.k.After(100, func() {
		clock.Now()
		s.p.Pause()
		clock.Now()
		s.say("reads %d", clock.Now().UnixNano())
	})
	s.k.After(101, s.p.Resume)
	s.k.After(102, func() {
		s.say("reads %d", clock.Now().UnixNano())
		s.say("sends at %d", s.p.Sends(1))
	})
	s.k.Run(300)
	s.want(t, "100 reads 130; 102 reads 141; 102 sends at 151")
}

// No clock goes back that cannot, whatever happens to its rate before the run has come to where the process is.
func TestNoClockGoesBack(t *testing.T) {
	s := slow()
	clock := s.p.WorkClock()
	s.p.clock.SetRate(MaxRate)
	s.k.After(100, func() { s.say("%d", clock.Now().UnixNano()) })
	s.k.After(101, func() { s.p.clock.SetRate(-MaxRate); s.say("%d", s.p.ProgramClock().Now().UnixNano()) })
	s.k.Run(200)
	s.want(t, "100 165; 101 165")
}

// A timer runs from what the code has read, also where a clock has stopped before the run has come to that reading.
func TestATimerRunsFromWhatWasRead(t *testing.T) {
	s := slow()
	clock := s.p.WorkClock()
	s.k.After(100, func() { clock.Now() })
	s.k.After(101, func() {
		s.p.clock.SetRate(Still)
		clock.AfterFunc(50, func() { s.say("reads %d", s.p.ProgramClock().Now().UnixNano()) })
	})
	s.k.After(200, func() { s.p.clock.SetRate(0) })
	s.k.Run(500)
	s.want(t, "259 reads 160")
}

// A step is drawn for what it is for: neither what happens elsewhere nor an earlier program of the process changes it.
func TestStepsAreKeyed(t *testing.T) {
	readings := func(more bool) []int64 {
		k := New(Config{Seed: 3})
		defer k.Close()
		p, other := k.NewProcess("p", Monotonic), k.NewProcess("q", Monotonic)
		var got []int64
		for _, x := range []*Process{p, other} {
			x.Takes(func(key Key) time.Duration { return time.Duration(key.Below(1000)) })
		}
		if more {
			other.Go(func() { other.WorkClock().Now() })
			p.Go(func() { p.WorkClock().Now() })
		}
		k.After(time.Second, func() {
			p.Go(func() {
				p.Purpose(k.Draw("this"))
				for range 3 {
					got = append(got, p.WorkClock().Now().UnixNano())
				}
			})
		})
		k.Run(True(2 * time.Second))
		return got
	}
	few, many := readings(false), readings(true)
	if len(few) != 3 || few[0] == few[1] || few[1]-few[0] == few[2]-few[1] {
		t.Errorf("%v", few)
	}
	for i := range few {
		if few[i] != many[i] {
			t.Errorf("%v and %v", few, many)
		}
	}
}
