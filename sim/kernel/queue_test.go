package kernel

import (
	"container/heap"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQueueIsSorted compares the queue, under pushes, pops, cancellations and changes of a clock, with a sorted slice.
func TestQueueIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := New(Config{})
		c := newClock(&k.now, k.clockMoved)
		var model []*event
		sort := func() {
			slices.SortFunc(model, func(a, b *event) int {
				if a.at < b.at || a.at == b.at && a.order < b.order {
					return -1
				}
				return 1
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"event": func(t *rapid.T) {
				lane := rapid.SampledFrom([]uint64{first, ordinary}).Draw(t, "lane")
				at := k.now + True(rapid.Int64Range(-2, 20).Draw(t, "in"))
				e := k.schedule(at, lane, nil, Label{kind: StepTimeline}, nil, 0)
				if e.at != max(at, k.now) {
					t.Fatalf("scheduled for %d, is at %d", at, e.at)
				}
				model = append(model, e)
			},
			"timer": func(t *rapid.T) {
				d := deadline{clock: c, kind: rapid.SampledFrom([]ClockKind{Monotonic, Boottime, WallClock}).Draw(t, "kind")}
				d.at = int64(c.Mono()) + rapid.Int64Range(0, 20).Draw(t, "in")
				if d.kind == WallClock {
					d.at += int64(c.offset)
				}
				e := k.schedule(d.when(), ordinary, nil, Label{kind: StepTimeline}, nil, 0)
				e.deadline = d
				model = append(model, e)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				sort()
				e := heap.Pop(&k.queue).(*event)
				if e != model[0] {
					t.Fatalf("popped (%d, %d), want (%d, %d)", e.at, e.order, model[0].at, model[0].order)
				}
				k.now = e.at
				k.free(e)
				model = model[1:]
			},
			"cancel": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				k.cancel(model[i])
				model = slices.Delete(model, i, i+1)
			},
			"rate": func(t *rapid.T) { c.SetRate(rates.Draw(t, "ppb")) },
			"step": func(t *rapid.T) { c.Step(time.Duration(rapid.Int64Range(-9, 9).Draw(t, "by"))) },
			"": func(t *rapid.T) {
				if len(k.queue) != len(model) {
					t.Fatalf("%d events in the queue, want %d", len(k.queue), len(model))
				}
				for i, e := range k.queue {
					if e.index != i {
						t.Fatalf("event %d takes itself for %d", i, e.index)
					}
					if i > 0 && e.before(k.queue[(i-1)/2]) {
						t.Fatalf("event %d is before its parent", i)
					}
					if d := e.deadline; d.clock != nil && e.at != d.when() {
						t.Fatalf("a timer is at %d, its deadline at %d", e.at, d.when())
					}
				}
			},
		})
	})
}
