package kernel

import (
	"testing"
	"time"
)

func TestPauseHoldsEverythingUpInOrder(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	w := waiter{process: s.p}
	s.p.Go(func() { w.Wait(background); s.say("woken") })
	s.p.after(30, func() { s.say("timer") })
	s.k.After(10, s.p.Pause)
	s.k.After(20, func() { w.Wake(); s.p.Go(func() { s.say("new program") }) })
	s.k.After(40, s.p.Pause) // one pause is as good as two
	s.k.Run(100)
	s.want(t, "")
	s.p.Resume()
	s.k.Run(200)
	s.want(t, "100 woken; 100 new program; 100 timer")
}

func TestPausedAgainBeforeItWentOn(t *testing.T) {
	s := newTalk()
	s.p.after(5, func() { s.say("timer") })
	s.p.after(6, func() { s.say("second"); s.p.Pause() })
	s.p.after(7, func() { s.say("third") })
	s.p.Pause()
	s.k.Run(10)
	s.p.Resume()
	s.p.Pause()
	s.k.Run(20)
	s.want(t, "")
	s.p.Resume()
	s.k.Run(30)
	s.want(t, "20 timer; 20 second")
	s.p.Resume()
	s.p.Resume()
	s.k.Run(40)
	s.want(t, "20 timer; 20 second; 30 third")
}

func TestClocksGoOnInAPause(t *testing.T) {
	k := New(Config{Seed: 1})
	p := k.NewProcess("p", Monotonic)
	p.Pause()
	k.Run(50)
	p.Crash()
	k.Run(100)
	if p.Clock().Mono() != 100 || p.Clock().Wall() != Epoch+100 || p.Paused() || !p.Dead() {
		t.Errorf("%d, %d, %v, %v", p.Clock().Mono(), p.Clock().Wall()-Epoch, p.Paused(), p.Dead())
	}
}

// TestSuspendStopsTheMonotonicClock: and with it timers and readings that are counted on it, but no other clock.
func TestSuspendStopsTheMonotonicClock(t *testing.T) {
	s := newTalk()
	s.p.clock.SetRate(-500_000_000)
	for kind, name := range map[ClockKind]string{Monotonic: "monotonic", Boottime: "boottime", WallClock: "wall"} {
		at := s.p.read(kind) + 50 + int64(kind) // apart, so that they come in one order
		s.p.when(deadline{s.p.clock, kind, at}, reading, func() { s.say("reading %s", name) })
	}
	s.p.after(50, func() { s.say("timer") })
	s.k.After(60, s.p.Suspend)
	s.k.After(80, s.p.Suspend)
	s.k.After(90, func() { s.p.clock.SetRate(0); s.p.clock.SetRate(-500_000_000) })
	s.k.After(360, s.p.Resume)
	s.k.Run(300)
	if c := s.p.clock; c.Mono() != 30 || c.Boot() != 150 || c.Wall() != Epoch+150 {
		t.Errorf("suspended: %d, %d, %d", c.Mono(), c.Boot(), c.Wall()-Epoch)
	}
	s.k.Run(1000)
	if c := s.p.clock; c.Mono() != 350 || c.Boot() != 500 {
		t.Errorf("awake: %d, %d", c.Mono(), c.Boot())
	}
	s.want(t, "102 reading boottime; 104 reading wall; 400 reading monotonic; 400 timer")
}

func TestCrashEndsEverything(t *testing.T) {
	for _, paused := range []bool{false, true} {
		s := newTalk()
		w := waiter{process: s.p}
		s.p.Go(func() { w.Wait(background); s.say("woken") })
		s.p.after(30, func() { s.say("timer") })
		if s.k.Run(1); paused {
			s.p.Pause()
		}
		w.Wake()
		s.k.After(9, s.p.Crash)
		if !paused {
			s.p.Crash()
		}
		s.k.Run(20)
		s.p.Resume()
		s.p.Tasks().Start(func() { s.say("task") })
		s.p.Go(func() { s.say("program") })
		s.k.Run(100)
		s.want(t, "")
		s.k.Close()
	}
}

func TestCheckpointStopsTheProgram(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*Process)
		want string
	}{
		{"nothing happened", func(*Process) {}, "0 before; 0 after"},
		{"paused", (*Process).Pause, "0 before; 50 after"},
		{"crashed", (*Process).Crash, "0 before"},
	} {
		s := newTalk()
		s.p.Go(func() {
			s.say("before")
			test.do(s.p)
			s.p.Checkpoint()
			s.say("after")
		})
		s.k.After(50, s.p.Resume)
		s.k.Run(100)
		s.want(t, test.want)
		s.p.Checkpoint() // nobody runs: nothing to stop
		s.k.Close()
	}
	// A task of the library, and a program of another process, go on to where they wait.
	s := newTalk()
	defer s.k.Close()
	other := s.k.NewProcess("other", Monotonic)
	other.Go(func() { s.p.Pause(); s.p.Checkpoint(); s.say("other") })
	other.Go(func() { other.Tasks().Start(func() { other.Pause(); other.Checkpoint(); s.say("task") }) })
	s.k.Run(1)
	s.want(t, "0 other; 0 task")
}

func TestSleep(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	s.p.clock.SetRate(-500_000_000)
	s.p.Go(func() {
		s.p.Sleep(background, 10)
		s.say("slow clock")
		ctx, cancel := s.p.ProgramClock().WithDeadline(background, s.p.ProgramClock().Now().Add(5))
		defer cancel()
		s.p.Sleep(ctx, 10)
		s.say("context")
		s.p.Sleep(ctx, 10)
		s.p.Sleep(background, 0)
		s.say("at once, %d timers left", len(s.k.queue))
	})
	s.k.Run(1000)
	s.want(t, "20 slow clock; 30 context; 30 at once, 0 timers left")
}

func TestResumeKeepsOrderWithWhatComesAtThatInstant(t *testing.T) {
	s := newTalk()
	s.k.After(20, s.p.Resume)
	s.p.after(10, func() { s.say("due at 10") })
	s.p.after(20, func() { s.say("due at 20") })
	s.p.Pause()
	s.k.Run(100)
	s.want(t, "20 due at 10; 20 due at 20")
}

// A process that is started again after a crash has the machine of the one before, and nothing else of it.
func TestStartAgain(t *testing.T) {
	s := newTalk()
	defer s.k.Close()
	w := waiter{process: s.p}
	s.p.Takes(func(Key) time.Duration { return 1 })
	s.p.Go(func() { w.Wait(background); s.say("woken") })
	s.p.after(30, func() { s.say("timer") })
	s.p.Suspend()
	s.p.Schedule(5, Label{kind: stepTimer}, action(func() { s.say("what came in a pause") }))
	s.p.Starve()
	s.p.Hang()
	s.k.After(10, s.p.Crash)
	s.k.Run(20)
	again := s.p.StartAgain()
	again.after(30, func() { s.say("another timer") })
	s.k.After(10, w.Wake)
	s.k.Run(100)
	s.want(t, "50 another timer")
	if again.Clock() != s.p.Clock() || again.Clock().Suspended() || again.Paused() || again.Dead() || !s.p.Dead() || again.Name() != s.p.Name() {
		t.Error("not the same machine, or not a running process of that name on it")
	}
	if !again.Starved() || again.Stuck() {
		t.Errorf("starved %v, stuck %v: the machine was, the process was", again.Starved(), again.Stuck())
	}
	if again.pace.takes == nil {
		t.Error("its code takes no time")
	}
	random := func(p *Process) (b [8]byte) {
		_, _ = p.Rand().Read(b[:])
		return b
	}
	if random(s.p) == random(again) || s.p.Draw("x") == again.Draw("x") {
		t.Error("it draws what the one before drew")
	}
}
