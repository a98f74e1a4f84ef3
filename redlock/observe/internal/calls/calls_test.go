package calls

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
)

// feed hands a tracker the steps of one attempt.
type feed struct {
	*Tracker[int]
	ctx      context.Context
	resource string
	value    string
	attempt  int
}

func (f feed) step(s redlock.Step, err error) *Call[int] {
	return f.Of(f.ctx, redlock.Event{Step: s, Resource: f.resource, Value: f.value, Attempt: f.attempt, Err: err, Delay: 5 * time.Second})
}

var (
	taken     = &redlock.Error{Op: redlock.OpAcquire, Reason: redlock.ErrTaken}
	cancelled = &redlock.Error{Op: redlock.OpAcquire, Cause: context.Canceled}
)

// in runs a test with a tracker that must have forgotten everything in the end, and gives what it said was given up when.
func in(t *testing.T, test func(tr *Tracker[int], gone map[*Call[int]]time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		gone := map[*Call[int]]time.Duration{}
		tr := &Tracker[int]{GaveUp: func(c *Call[int]) { gone[c] = time.Since(began) }}
		test(tr, gone)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(tr.values) != 0 || len(tr.waiting) != 0 {
			t.Errorf("not forgotten: %v, %v", tr.values, tr.waiting)
		}
	})
}

func TestAttemptsOfOneCall(t *testing.T) {
	in(t, func(tr *Tracker[int], gone map[*Call[int]]time.Duration) {
		first := feed{tr, t.Context(), "r", "v1", 1}
		call := first.step(redlock.AttemptStarted, nil)
		began := call.Began
		first.step(redlock.Denied, taken)
		first.step(redlock.Retrying, redlock.ErrTaken)
		time.Sleep(5*time.Second + Patience/2)
		second := feed{tr, t.Context(), "r", "v2", 2}
		if got := second.step(redlock.AttemptStarted, nil); got != call || got.Began != began {
			t.Errorf("the second attempt is of another call")
		}
		if second.step(redlock.Granted, nil) != call || first.step(redlock.TakenBack, nil) != nil {
			t.Errorf("the grant is not the call's, or a value that was given up still is")
		}
		if second.step(redlock.ReleaseStarted, nil) != call || second.step(redlock.Released, nil) != call {
			t.Errorf("the release is not the call's")
		}
		time.Sleep(time.Minute)
		if len(gone) != 0 || call.Over {
			t.Errorf("a call that was granted counts as given up")
		}
	})
}

// Resource, context and number tell calls apart.
func TestCallsAreToldApart(t *testing.T) {
	type key struct{}
	for _, c := range []struct {
		name string
		next func(*feed)
	}{
		{"resource", func(f *feed) { f.resource = "s" }},
		{"context", func(f *feed) { f.ctx = context.WithValue(f.ctx, key{}, 1) }},
		{"number", func(f *feed) { f.attempt = 3 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(tr *Tracker[int], _ map[*Call[int]]time.Duration) {
				f := feed{tr, t.Context(), "r", "v1", 1}
				call := f.step(redlock.AttemptStarted, nil)
				f.step(redlock.Denied, taken)
				f.step(redlock.Retrying, nil)
				f.value, f.attempt = "v2", 2
				c.next(&f)
				if f.step(redlock.AttemptStarted, nil) == call {
					t.Error("taken for the same call")
				}
				f.step(redlock.Denied, cancelled)
			})
		})
	}
}

func TestEndsWithoutAGrant(t *testing.T) {
	for _, c := range []struct {
		name    string
		denied  error
		retries bool
		want    time.Duration // when it is given up; 0: never, because Denied says so
	}{
		{"a single attempt", taken, false, Patience},
		{"in the delay", taken, true, 5*time.Second + Patience},
		{"in an attempt", cancelled, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(tr *Tracker[int], gone map[*Call[int]]time.Duration) {
				f := feed{tr, t.Context(), "r", "v", 1}
				f.step(redlock.AttemptStarted, nil)
				call := f.step(redlock.Denied, c.denied)
				if call.Over != (c.want == 0) || call.Err != c.denied || call.Failed.IsZero() {
					t.Errorf("denied: %+v", call)
				}
				if c.retries {
					f.step(redlock.Retrying, nil)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if at, ok := gone[call]; ok != (c.want != 0) || at != c.want {
					t.Errorf("given up: %v after %v, want after %v", ok, at, c.want)
				}
			})
		})
	}
}

// A lease's call lasts until it was lost or released and nothing of it is under way, in whatever order that is reported.
func TestLeaseEnds(t *testing.T) {
	const (
		granted, lost       = redlock.Granted, redlock.Lost
		extend, notExtended = redlock.ExtendStarted, redlock.NotExtended
		release, released   = redlock.ReleaseStarted, redlock.Released
	)
	for _, steps := range [][]redlock.Step{
		{granted, lost},
		{lost, granted},
		{granted, release, released},
		{granted, extend, release, released, notExtended},
		{granted, extend, lost, notExtended},
		{granted, release, lost, released},
		{granted, extend, redlock.Extended, lost},
	} {
		in(t, func(tr *Tracker[int], _ map[*Call[int]]time.Duration) {
			f := feed{tr, t.Context(), "r", "v", 1}
			call := f.step(redlock.AttemptStarted, nil)
			for i, s := range steps {
				if len(tr.values) != 1 || f.step(s, nil) != call {
					t.Errorf("%v: step %d is not the call's", steps, i+1)
				}
			}
			if len(tr.values) != 0 {
				t.Errorf("%v: not forgotten", steps)
			}
		})
	}
}

// The release of a lease that was lost has a call too, and that ends.
func TestReleaseAfterLoss(t *testing.T) {
	in(t, func(tr *Tracker[int], _ map[*Call[int]]time.Duration) {
		f := feed{tr, t.Context(), "r", "v", 1}
		lease := f.step(redlock.AttemptStarted, nil)
		f.step(redlock.Granted, nil)
		f.step(redlock.Lost, nil)
		release := f.step(redlock.ReleaseStarted, nil)
		if release == nil || release == lease || f.step(redlock.Released, nil) != release {
			t.Errorf("release %p of lease %p", release, lease)
		}
	})
}

// A context whose type cannot be compared does no harm.
func TestContextThatCannotBeCompared(t *testing.T) {
	in(t, func(tr *Tracker[int], _ map[*Call[int]]time.Duration) {
		f := feed{tr, strange{t.Context(), nil}, "r", "v1", 1}
		call := f.step(redlock.AttemptStarted, nil)
		f.step(redlock.Denied, taken)
		f.step(redlock.Retrying, nil)
		f.value, f.attempt = "v2", 2
		if f.step(redlock.AttemptStarted, nil) != call {
			t.Error("taken for another call")
		}
		f.step(redlock.Denied, cancelled)
	})
}

type strange struct {
	context.Context
	_ []int
}
