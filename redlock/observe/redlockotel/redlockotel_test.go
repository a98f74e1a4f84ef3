package redlockotel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/testnode"
	"redlocksim/redlock/semaphore"
)

// world is a client whose calls are children of a span called caller. Nodes a, b and c answer after 1, 2 and 3 ms and two
// are a quorum, so that a round takes 2 ms; of a TTL of 1 s the allowance for drift takes 12 ms.
type world struct {
	*testing.T
	*redlock.Client
	a, b, c  *testnode.Node
	ctx      context.Context
	began    time.Time
	recorder *tracetest.SpanRecorder
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *world)
		want string
	}{
		{"lock, extend, unlock", func(w *world) {
			lease := w.lock()
			w.at(100)
			w.must(lease.Extend(w.ctx, time.Second), nil)
			w.at(200)
			w.must(lease.Unlock(w.ctx), nil)
		}, `
			redlock.acquire 0s-2ms in caller: attempt=1 resource=r validity=0.986
			  0s attempt-started attempt=1
			redlock.extend 100ms-102ms in redlock.held: resource=r validity=0.986
			redlock.release 200ms-202ms in redlock.held: accepted=2 resource=r
			redlock.held 2ms-202ms in caller, linked to redlock.acquire: attempt=1 resource=r validity=0.986`},
		// At 12 ms a is asked, the gate of r, and at 13 ms b and c.
		{"granted at the second attempt", func(w *world) {
			w.a.Hold("r", 5*time.Millisecond)
			w.b.Hold("r", 5*time.Millisecond)
			lease := w.lock()
			w.must(lease.Unlock(w.ctx), nil)
		}, `
			redlock.acquire 0s-15ms in caller: attempt=2 resource=r validity=0.985
			  0s attempt-started attempt=1
			  2ms denied error.type=taken nodes=[a held by another b held by another c unanswered]
			  2ms retrying delay=0.01
			  12ms attempt-started attempt=2
			  12ms gate-asked node=a
			redlock.release 15ms-17ms in redlock.held: accepted=2 resource=r
			redlock.held 15ms-17ms in caller, linked to redlock.acquire: attempt=2 resource=r validity=0.985`},
		{"behind a lease of the same client", func(w *world) {
			lease := w.lock()
			unlock := time.AfterFunc(50*time.Millisecond, func() { _ = lease.Unlock(context.Background()) })
			defer unlock.Stop()
			next := w.lock()
			w.must(next.Unlock(w.ctx), nil)
		}, `
			redlock.acquire 0s-2ms in caller: attempt=1 resource=r validity=0.986
			  0s attempt-started attempt=1
			redlock.release 52ms-54ms in redlock.held: accepted=2 resource=r
			redlock.held 2ms-54ms in caller, linked to redlock.acquire: attempt=1 resource=r validity=0.986
			redlock.acquire 2ms-56ms in caller: attempt=1 resource=r validity=0.986
			  2ms queued
			  54ms attempt-started attempt=1
			redlock.release 56ms-58ms in redlock.held: accepted=2 resource=r
			redlock.held 56ms-58ms in caller, linked to redlock.acquire: attempt=1 resource=r validity=0.986`},
		{"no wake-up", func(w *world) {
			w.a.NoWakeUp()
			lease := w.lock()
			w.must(lease.Unlock(w.ctx), nil)
			w.a.Hold("r", time.Minute)
			w.b.Hold("r", time.Minute)
			_, err := w.TryLock(w.ctx, "r", time.Second)
			w.must(err, redlock.ErrTaken)
		}, `
			redlock.acquire 0s-2ms in caller: attempt=1 resource=r validity=0.986
			  0s attempt-started attempt=1
			redlock.release 2ms-4ms in redlock.held: accepted=2 resource=r
			  4ms no-wake-up nodes=[a released, no wake-up]
			redlock.held 2ms-4ms in caller, linked to redlock.acquire: attempt=1 resource=r validity=0.986
			redlock.acquire 4ms-6ms in caller, error taken: error.type=taken nodes=[a held by another, no wake-up b held by another c unanswered] resource=r
			  4ms attempt-started attempt=1
			  6ms denied error.type=taken nodes=[a held by another, no wake-up b held by another c unanswered]`},
		{"looks of a semaphore", func(w *world) {
			pool, err := semaphore.New(w.Client, "r", 1)
			w.must(err, nil)
			w.a.Hold("r/1", time.Minute)
			w.b.Hold("r/1", time.Minute)
			_, err = pool.TryAcquire(w.ctx, time.Second)
			w.must(err, redlock.ErrTaken)
			w.b.Down(true)
			w.a.Down(true)
			_, err = pool.TryAcquire(w.ctx, time.Second)
			w.must(err, redlock.ErrNoQuorum)
		}, `
			redlock.acquire 0s-2ms in caller: resource=r/1
			  0s attempt-started attempt=1
			  2ms denied error.type=taken nodes=[a held by another b held by another c unanswered]
			redlock.acquire 2ms-4ms in caller, error no_quorum: error.type=no_quorum nodes=[a refused b refused c unanswered] resource=r/1
			  2ms attempt-started attempt=1
			  4ms denied error.type=no_quorum nodes=[a refused b refused c unanswered]`},
		{"a single attempt", func(w *world) {
			w.a.Down(true)
			w.b.Down(true)
			_, err := w.TryLock(w.ctx, "r", time.Second)
			w.must(err, redlock.ErrNoQuorum)
		}, `
			redlock.acquire 0s-2ms in caller, error no_quorum: error.type=no_quorum nodes=[a refused b refused c unanswered] resource=r
			  0s attempt-started attempt=1
			  2ms denied error.type=no_quorum nodes=[a refused b refused c unanswered]`},
		{"given up between attempts", func(w *world) {
			w.a.Hold("r", time.Minute)
			w.b.Hold("r", time.Minute)
			ctx, cancel := context.WithTimeout(w.ctx, 7*time.Millisecond)
			defer cancel()
			_, err := w.Lock(ctx, "r", time.Second)
			w.must(err, context.DeadlineExceeded)
		}, `
			redlock.acquire 0s-7ms in caller, error taken: error.type=taken nodes=[a held by another b held by another c unanswered] resource=r
			  0s attempt-started attempt=1
			  2ms denied error.type=taken nodes=[a held by another b held by another c unanswered]
			  2ms retrying delay=0.01`},
		{"given up in an attempt", func(w *world) {
			ctx, cancel := context.WithTimeout(w.ctx, 1500*time.Microsecond)
			defer cancel()
			_, err := w.Lock(ctx, "r", time.Second)
			w.must(err, context.DeadlineExceeded)
		}, `
			redlock.acquire 0s-1.5ms in caller, error deadline_exceeded: error.type=deadline_exceeded nodes=[a granted b unanswered c unanswered] resource=r
			  0s attempt-started attempt=1
			  1.5ms denied error.type=deadline_exceeded nodes=[a granted b unanswered c unanswered]`},
		// The lease ends at 988 ms, and its holder is told 50 ms earlier.
		{"lost, then released", func(w *world) {
			lease := w.lock()
			w.at(950)
			w.must(lease.Unlock(w.ctx), redlock.ErrLost)
		}, `
			redlock.acquire 0s-2ms in caller: attempt=1 resource=r validity=0.986
			  0s attempt-started attempt=1
			redlock.held 2ms-938ms in caller, linked to redlock.acquire, error lost: attempt=1 error.type=lost resource=r validity=0.986
			redlock.release 950ms-952ms in caller, error lost: accepted=2 error.type=lost nodes=[a released b released c unanswered] resource=r`},
		{"an extend that fails", func(w *world) {
			lease := w.lock()
			w.a.Down(true)
			w.b.Down(true)
			w.at(100)
			w.must(lease.Extend(w.ctx, time.Second), redlock.ErrNoQuorum)
			w.a.Down(false)
			w.must(lease.Unlock(w.ctx), nil)
		}, `
			redlock.acquire 0s-2ms in caller: attempt=1 resource=r validity=0.986
			  0s attempt-started attempt=1
			redlock.extend 100ms-102ms in redlock.held, error no_quorum: error.type=no_quorum nodes=[a refused b refused c unanswered] resource=r
			redlock.release 102ms-105ms in redlock.held: accepted=2 resource=r
			redlock.held 2ms-105ms in caller, linked to redlock.acquire: attempt=1 resource=r validity=0.986`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c.run(w)
				time.Sleep(time.Minute)
				if got, want := w.spans(), unindent(c.want); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, began: time.Now(), recorder: tracetest.NewSpanRecorder()}
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(w.recorder))
	w.a, w.b, w.c = testnode.Three()
	client, err := redlock.New([]driver.Node{w.a, w.b, w.c},
		redlock.WithRetryDelay(10*time.Millisecond, 10*time.Millisecond), redlock.WithObserver(New(Options{TracerProvider: provider})))
	if err != nil {
		t.Fatal(err)
	}
	w.Client = client
	w.ctx, _ = provider.Tracer("test").Start(t.Context(), "caller")
	return w
}

func (w *world) lock() *redlock.Lease {
	w.Helper()
	lease, err := w.Lock(w.ctx, "r", time.Second)
	w.must(err, nil)
	return lease
}

func (w *world) at(ms int) { time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(w.began)) }

func (w *world) must(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("got %v, want %v", err, want)
	}
}

// spans writes out the spans that have ended, in this order, without the random values.
func (w *world) spans() string {
	names := map[string]string{}
	for _, s := range w.recorder.Started() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	var lines []string
	for _, s := range w.recorder.Ended() {
		line := fmt.Sprintf("%s %v-%v in %s", s.Name(), s.StartTime().Sub(w.began), s.EndTime().Sub(w.began), names[s.Parent().SpanID().String()])
		for _, l := range s.Links() {
			line += ", linked to " + names[l.SpanContext.SpanID().String()]
		}
		if s.Status().Description != "" {
			line += ", error " + s.Status().Description
		}
		lines = append(lines, line+":"+w.attributes(s.Attributes()))
		for _, e := range s.Events() {
			lines = append(lines, fmt.Sprintf("  %v %s%s", e.Time.Sub(w.began), e.Name, w.attributes(e.Attributes)))
		}
	}
	return strings.Join(lines, "\n")
}

func (w *world) attributes(all []attribute.KeyValue) string {
	var texts []string
	for _, a := range all {
		if a.Key == Value {
			continue
		}
		texts = append(texts, fmt.Sprintf(" %s=%v", strings.TrimPrefix(string(a.Key), "redlock."), a.Value.AsInterface()))
	}
	slices.Sort(texts)
	return strings.Join(texts, "")
}

func unindent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\n\t\t\t"), "\n\t\t\t", "\n")
}

// The grant and all that is done with the lease name the fingerprint of the value that stands for it on the nodes, and never
// the value.
func TestValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lease := w.lock()
		w.must(lease.Unlock(w.ctx), nil)
		time.Sleep(time.Second)
		for _, s := range w.recorder.Ended() {
			if !slices.Contains(s.Attributes(), Value.String(observe.Fingerprint(lease.Value()))) {
				t.Errorf("%s has %v", s.Name(), s.Attributes())
			}
			if strings.Contains(fmt.Sprint(s.Attributes(), s.Events()), lease.Value()) {
				t.Errorf("%s shows the value: %v %v", s.Name(), s.Attributes(), s.Events())
			}
		}
	})
}

// A lease that is lost while its holder releases it, or before the holder knows of it: the spans end all the same, that of
// the time held after its children.
func TestLossAtOddTimes(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []observe.Step
		want  string
	}{
		{"in the release", []observe.Step{observe.AttemptStarted, observe.Granted, observe.ReleaseStarted, observe.Lost, observe.Released},
			"redlock.acquire, redlock.release lost, redlock.held lost"},
		{"before the grant is reported", []observe.Step{observe.AttemptStarted, observe.Lost, observe.Granted}, "redlock.acquire, redlock.held lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			o := New(Options{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(recorder))})
			for _, s := range c.steps {
				e := observe.Event{Step: s, Resource: "r", Value: "v", Attempt: 1}
				if s == observe.Released {
					e.Err = redlock.ErrLost
				}
				o.Observe(t.Context(), e)
			}
			var ended []string
			for _, s := range recorder.Ended() {
				ended = append(ended, strings.TrimSpace(s.Name()+" "+s.Status().Description))
			}
			if got := strings.Join(ended, ", "); got != c.want || len(recorder.Started()) != len(ended) {
				t.Errorf("got  %s\nwant %s\nof %d spans", got, c.want, len(recorder.Started()))
			}
		})
	}
}
