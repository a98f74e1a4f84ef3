package calls

import (
	"testing"

	"redlocksim/redlock/observe"
)

// feed hands a tracker the steps of one attempt.
type feed struct {
	*Tracker[int]
	call    string
	attempt int
}

func (f feed) step(s observe.Step) *Call[int] {
	return f.Of(observe.Event{Step: s, Call: f.call, Attempt: f.attempt})
}

// in runs a test with a tracker that must have forgotten everything in the end.
func in(t *testing.T, test func(tr *Tracker[int])) {
	t.Helper()
	tr := &Tracker[int]{}
	test(tr)
	if len(tr.calls) != 0 {
		t.Errorf("not forgotten: %v", tr.calls)
	}
}

func TestAttemptsOfOneCall(t *testing.T) {
	in(t, func(tr *Tracker[int]) {
		one, other := feed{tr, "v1", 1}, feed{tr, "v2", 1}
		call := one.step(observe.AttemptStarted)
		if call == nil || call.Began.IsZero() || other.step(observe.AttemptStarted) == call {
			t.Errorf("call %+v", call)
		}
		for _, s := range []observe.Step{observe.Denied, observe.Retrying} {
			if one.step(s) != call {
				t.Errorf("%v belongs to another call", s)
			}
		}
		one.attempt++
		for _, s := range []observe.Step{observe.AttemptStarted, observe.Denied, observe.GaveUp} {
			if one.step(s) != call {
				t.Errorf("%v of the second attempt belongs to another call", s)
			}
		}
		if one.step(observe.NodeAnswered) != nil {
			t.Error("a late answer belongs to a call that is over")
		}
		other.step(observe.GaveUp)
	})
}

// A call that waits for its turn begins then, and can be over before its first attempt.
func TestQueuedCall(t *testing.T) {
	in(t, func(tr *Tracker[int]) {
		one := feed{tr, "v1", 0}
		call := one.step(observe.Queued)
		if call == nil || one.step(observe.Yielding) != call {
			t.Errorf("call %+v", call)
		}
		one.attempt = 1
		for _, s := range []observe.Step{observe.AttemptStarted, observe.Denied, observe.Queued, observe.GaveUp} {
			if one.step(s) != call {
				t.Errorf("%v belongs to another call", s)
			}
		}
		other := feed{tr, "v2", 0}
		if call := other.step(observe.Queued); call == nil || other.step(observe.GaveUp) != call {
			t.Error("one that gives up while it waits is another call")
		}
	})
}

// A lease's call lasts until it was lost or released and nothing of it is under way, in whatever order that is reported.
func TestLeaseEnds(t *testing.T) {
	const (
		granted, lost       = observe.Granted, observe.Lost
		extend, notExtended = observe.ExtendStarted, observe.NotExtended
		release, released   = observe.ReleaseStarted, observe.Released
	)
	for _, steps := range [][]observe.Step{
		{granted, lost},
		{lost, granted},
		{granted, release, released},
		{granted, extend, release, released, notExtended},
		{granted, extend, lost, notExtended},
		{granted, release, lost, released},
		{granted, extend, observe.Extended, lost},
	} {
		in(t, func(tr *Tracker[int]) {
			f := feed{tr, "v", 1}
			call := f.step(observe.AttemptStarted)
			for i, s := range steps {
				if len(tr.calls) != 1 || f.step(s) != call {
					t.Errorf("%v: step %d is not the call's", steps, i+1)
				}
			}
			if len(tr.calls) != 0 {
				t.Errorf("%v: not forgotten", steps)
			}
		})
	}
}

// The release of a lease that was lost has a call too, and that ends.
func TestReleaseAfterLoss(t *testing.T) {
	in(t, func(tr *Tracker[int]) {
		f := feed{tr, "v", 1}
		lease := f.step(observe.AttemptStarted)
		f.step(observe.Granted)
		f.step(observe.Lost)
		release := f.step(observe.ReleaseStarted)
		if release == nil || release == lease || f.step(observe.Released) != release {
			t.Errorf("release %p of lease %p", release, lease)
		}
	})
}
