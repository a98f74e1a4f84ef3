package kernel

import "testing"

// The goroutines of a kernel are its coroutines and the one that runs it, for as long as it does; one that they start is none.
func TestEntered(t *testing.T) {
	elsewhere := func() bool {
		is := make(chan bool)
		go func() { is <- Entered() }()
		return <-is
	}
	want := func(where string, want, got bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: entered %v", where, got)
		}
	}
	s := newTalk()
	s.p.Go(func() {
		want("in a program", true, Entered())
		want("in a goroutine that a program starts", false, elsewhere())
		s.p.Sleep(background, 1)
		want("in a program that has waited", true, Entered())
		s.p.Tasks().Start(func() { want("in a task", true, Entered()) })
	})
	s.k.After(1, func() { want("in an event", true, Entered()) })
	want("before the run", false, Entered())
	s.k.Run(2)
	want("after the run", false, Entered())
	leave := Enter()
	want("after Enter", true, Entered())
	want("in a goroutine started after Enter", false, elsewhere())
	leave()
	want("after leave", false, Entered())
	s.k.Close()
}
