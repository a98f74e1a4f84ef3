package trace_test

import (
	"slices"
	"testing"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/trace"
)

type (
	cause  struct{ n int }
	effect struct{ of int }
)

// What is made of an event comes behind the event itself, whoever came first, and is not made before somebody reads it.
func TestOrder(t *testing.T) {
	s := trace.New()
	var told []string
	causes, effects := trace.Of[cause](s), trace.Of[effect](s)
	effects.WhenRead(func() {
		told = append(told, "begins")
		trace.Last(s, func(c cause) { effects.Tell(effect{c.n}) })
	})
	causes.Tell(cause{1})
	if causes.IsRead() || effects.IsRead() {
		t.Error("read by nobody")
	}
	for _, name := range []string{"a", "b"} {
		trace.On(s, func(effect) { told = append(told, name+" effect") })
		trace.On(s, func(cause) { told = append(told, name+" cause") })
	}
	trace.Tell(s, cause{2})
	want := []string{"begins", "a cause", "b cause", "a effect", "b effect"}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}

// Outside of the simulator there is no stream, and nobody is told.
func TestNoStream(t *testing.T) {
	if trace.Of[cause](nil).IsRead() {
		t.Error("it is read")
	}
	trace.Tell(nil, cause{1})
}

// What nobody reads costs nothing.
func TestUnreadEventsAllocateNothing(t *testing.T) {
	s := trace.New()
	k := trace.Of[cause](s)
	if n := testing.AllocsPerRun(100, func() { k.Tell(cause{1}); trace.Tell(s, cause{2}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
