package sim

import (
	"testing"
	"time"

	"redlocksim/history"
)

func TestPauseHoldsEverythingUpInOrder(t *testing.T) {
	s := newTalk()
	defer s.k.close()
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
	k := newKernel(1)
	p := k.newProcess("p")
	p.Pause()
	k.Run(50)
	p.Crash()
	k.Run(100)
	if p.Clock().Mono() != 100 || p.Clock().Wall() != Epoch+100 || p.Paused() || !p.Dead() {
		t.Errorf("%d, %d, %v, %v", p.Clock().Mono(), p.Clock().Wall()-Epoch, p.Paused(), p.Dead())
	}
}

// TestSuspendStopsTheMonotonicClock: and with it timers and beliefs that are counted on it, but no other clock.
func TestSuspendStopsTheMonotonicClock(t *testing.T) {
	s := newTalk()
	s.p.clock.SetRate(-500_000_000)
	for kind, name := range map[ClockKind]string{Monotonic: "monotonic", Boottime: "boottime", WallClock: "wall"} {
		until := time.Unix(0, s.p.clock.read(kind)+50+int64(kind)) // apart, so that they come in one order
		lockClock{s.p, kind}.when(until, func() { s.say("belief %s", name) })
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
	s.want(t, "102 belief boottime; 104 belief wall; 400 belief monotonic; 400 timer")
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
		s.k.close()
	}
}

func TestSettleStopsTheProgram(t *testing.T) {
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
			s.p.Settle()
			s.say("after")
		})
		s.k.After(50, s.p.Resume)
		s.k.Run(100)
		s.want(t, test.want)
		s.p.Settle() // nobody runs: nothing to stop
		s.k.close()
	}
	// A task of the library, and a program of another process, go on to where they wait.
	s := newTalk()
	defer s.k.close()
	other := s.k.newProcess("other")
	other.Go(func() { s.p.Pause(); s.p.Settle(); s.say("other") })
	other.Go(func() { other.Tasks().Start(func() { other.Pause(); other.Settle(); s.say("task") }) })
	s.k.Run(1)
	s.want(t, "0 other; 0 task")
}

func TestSleep(t *testing.T) {
	s := newTalk()
	defer s.k.close()
	s.p.clock.SetRate(-500_000_000)
	s.p.Go(func() {
		s.p.Sleep(background, 10)
		s.say("slow clock")
		ctx, cancel := s.p.LockClock().WithDeadline(background, s.p.LockClock().Now().Add(5))
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

// TestStorageLatencyDoesNotDependOnOtherClients: the numbers of operations, which count those of all clients, have no part
// in what is drawn.
func TestStorageLatencyDoesNotDependOnOtherClients(t *testing.T) {
	run := func(others int) (took time.Duration) {
		w := NewWorld(Config{Clients: []ClientConfig{{Name: "c1"}, {Name: "c2"}}, Latency: Uniform(0, time.Second)}, nil)
		defer w.Kernel.close()
		for range others {
			w.NewOp()
		}
		c := w.Client("c2")
		c.Go(func() {
			writeStorage(c, w, w.NewOp(), "R", 1)
			took = w.Kernel.Now().Sub(0)
		})
		w.Kernel.Run(True(time.Minute))
		return took
	}
	if a, b := run(0), run(1); a != b {
		t.Errorf("the same write took %v, and %v after an operation of another client", a, b)
	}
}

func TestStorage(t *testing.T) {
	w := NewWorld(Config{Clients: []ClientConfig{{Name: "c"}}, Latency: Constant(5)}, nil)
	defer w.Kernel.close()
	c, link := w.Client("c"), w.Network.Link("c", StorageName)
	var got []any
	c.Go(func() {
		number, outcome := readStorage(c, w, 1, "R")
		got = append(got, number, outcome)
		got = append(got, writeStorage(c, w, 2, "R", 7), w.Kernel.Now())
		number, outcome = readStorage(c, w, 3, "R")
		got = append(got, number, outcome)
		number, outcome = readStorage(c, w, 4, "S")
		got = append(got, number, outcome)
		got = append(got, writeStorage(c, w, 5, "R", 9), w.Kernel.Now())
	})
	w.Kernel.After(47, link.Reset) // it was taken at 45, the answer is lost
	w.Kernel.Run(100)
	want := []any{int64(0), history.OK, history.OK, True(20), int64(7), history.OK, int64(0), history.OK, history.Unknown, True(47)}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	h := w.History()
	if e := h[len(h)-1]; len(h) != 5 || e.Func != history.Write || e.Number != 9 || e.Time != 45 || e.Process != "c" || e.Outcome != history.OK {
		t.Errorf("%d effects, the last is %+v", len(h), e)
	}
}

func TestWorldRecords(t *testing.T) {
	w := NewWorld(Config{Clients: []ClientConfig{{Name: "c"}}}, nil)
	c := w.Client("c")
	var seen []int
	w.Watch(func(e *history.Event) { seen = append(seen, e.Seq) })
	w.Kernel.After(3, func() { w.Record(history.Event{Kind: history.Step, Name: "a"}) })
	w.Kernel.Run(5)
	empty := w.TraceHash()
	if err := w.Crash(c); err != nil {
		t.Error(err)
	}
	if err := w.Crash(c); err == nil {
		t.Error("it crashed twice")
	}
	h := w.History()
	if len(h) != 2 || h[0].Time != 3 || h[1].Time != 5 || h[1].Kind != history.Crash || h[1].Process != "c" || len(seen) != 2 || seen[1] != 2 {
		t.Errorf("%+v, watched %v", h, seen)
	}
	if w.HistoryHash() != history.Hash(h) || w.TraceHash() == empty {
		t.Error("the hashes do not follow the history")
	}
	w.Kernel.close()
	if w.Record(history.Event{}); len(w.History()) != 2 {
		t.Error("it records after the end")
	}
}

func readStorage(c *Process, w *World, op int, resource string) (int64, history.Outcome) {
	e := w.Storage.Do(c, w.Kernel.Draw("read"), history.Event{Func: history.Read, Op: op, Grant: 1, Resource: resource})
	return e.Number, e.Outcome
}

func writeStorage(c *Process, w *World, op int, resource string, number int64) history.Outcome {
	return w.Storage.Do(c, w.Kernel.Draw("write"), history.Event{Func: history.Write, Op: op, Grant: 1, Resource: resource, Number: number}).Outcome
}
