package history_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	. "redlocksim/sim/history"
)

// The encoding is a published format: a new one needs a new version line, and every recorded hash changes.
func TestHashIsPinned(t *testing.T) {
	h := History{
		{Seq: 1, Time: 300, Kind: Call, Process: "c1", Op: 1, Func: Acquire, Resource: "r"},
		{Seq: 2, Time: 300, Kind: "other", Grant: 1, Outcome: OK, Name: "n", Node: "a", Number: -1, Span: 64, Detail: "d"},
	}
	const want = "e9fda763d4da6c529ee1ec2b0e386fb576d3ea695d3ef209a733c90bdb565f1c"
	if got := Hash(h); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestHashStreams(t *testing.T) {
	var long History
	for i := range 500 {
		long = append(long, Event{Seq: i + 1, Time: int64(i), Kind: Step, Name: "granted", Detail: fmt.Sprint(i)})
	}
	var s Hasher
	for i := range long {
		if got, want := s.Sum(), Hash(long[:i]); got != want {
			t.Fatalf("after %d events the stream's hash is %s, the history's %s", i, got, want)
		}
		s.Add(&long[i])
	}
}

func TestHashChangesWithEveryField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := validHistories().Draw(t, "history")
		before := Hash(h)
		changed := slices.Clone(h)
		event := reflect.ValueOf(&changed[rapid.IntRange(0, len(h)-1).Draw(t, "event")]).Elem()
		for i := range event.NumField() {
			field := event.Field(i)
			was := reflect.ValueOf(field.Interface())
			if field.Kind() == reflect.String {
				field.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
					"", "\x00", "\x01", was.String() + "x", string(Call), string(Extend), string(Unknown),
				})).Filter(func(s string) bool { return s != was.String() }).Draw(t, "text"))
			} else {
				field.SetInt(rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, was.Int() + 1})).
					Filter(func(n int64) bool { return n != was.Int() }).Draw(t, "number"))
			}
			if Hash(changed) == before {
				t.Fatalf("%s changed from %v to %v, the hash did not", event.Type().Field(i).Name, was, field)
			}
			field.Set(was)
		}
	})
}

func TestHashChangesWithOrderAndLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := validHistories().Draw(t, "history")
		i := rapid.IntRange(0, len(h)-1).Draw(t, "event")
		j := rapid.IntRange(0, len(h)-1).Draw(t, "other")
		before := Hash(h)
		if Hash(slices.Delete(slices.Clone(h), i, i+1)) == before {
			t.Fatal("an event less, the same hash")
		}
		if Hash(slices.Insert(slices.Clone(h), i, Event{})) == before {
			t.Fatal("an event more, the same hash")
		}
		swapped := slices.Clone(h)
		swapped[i], swapped[j] = h[j], h[i]
		if (Hash(swapped) == before) != (i == j) {
			t.Fatal("order does not matter")
		}
		// Moving a byte from one text to the next must not go unseen.
		moved := slices.Clone(h)
		moved[i].Name, moved[i].Node = "ab", "c"
		one := Hash(moved)
		moved[i].Name, moved[i].Node = "a", "bc"
		if Hash(moved) == one {
			t.Fatal("the border between two texts does not matter")
		}
	})
}

// cycle is about what one acquire and release over five nodes record.
func cycle() History {
	events := []Event{{Kind: Call, Process: "c1", Op: 41, Func: Acquire, Resource: "orders/17"}}
	for n := range 5 {
		events = append(events, Event{Kind: Step, Process: "c1", Op: 41, Resource: "orders/17", Name: "node-answered",
			Node: fmt.Sprintf("n%d", n+1), Number: 1, Detail: "granted"})
	}
	events = append(events,
		Event{Kind: Step, Process: "c1", Op: 41, Resource: "orders/17", Name: "quorum-reached", Number: 1},
		Event{Kind: Step, Process: "c1", Op: 41, Resource: "orders/17", Name: "validity-computed", Number: 1, Span: 9896e6},
		Event{Kind: Return, Process: "c1", Op: 41, Func: Acquire, Resource: "orders/17", Outcome: OK, Span: 9896e6},
		Event{Kind: Call, Process: "c1", Op: 42, Func: Release, Resource: "orders/17", Grant: 41})
	for n := range 4 {
		events = append(events, Event{Kind: Step, Process: "c1", Op: 42, Resource: "orders/17", Name: "node-answered",
			Node: fmt.Sprintf("n%d", n+1), Detail: "released"})
	}
	events = append(events, Event{Kind: Return, Process: "c1", Op: 42, Func: Release, Resource: "orders/17", Grant: 41, Outcome: OK})
	for i := range events {
		events[i].Seq, events[i].Time = i+1, int64(i)*137_000
	}
	return events
}

func TestAddDoesNotAllocate(t *testing.T) {
	h := cycle()
	var s Hasher
	s.Sum()
	if n := testing.AllocsPerRun(1000, func() {
		for i := range h {
			s.Add(&h[i])
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d events", n, len(h))
	}
}

func BenchmarkHasherAdd(b *testing.B) {
	h := cycle()
	var s Hasher
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(&h[i%len(h)])
	}
	s.Sum()
}
