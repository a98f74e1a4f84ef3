package redlock

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	nodes := []NodeOutcome{
		{Node: "A", Outcome: Accepted, Took: time.Millisecond}, {Node: "B", Outcome: Declined}, {Node: "C", Outcome: Failed, Err: errors.New("LOADING")},
		{Node: "D", Outcome: TimedOut, Err: context.DeadlineExceeded}, {Node: "E"}, {Node: "F", Outcome: Outcome(9)},
	}
	for _, c := range []struct {
		err           Error
		want, matches string
	}{
		{Error{Op: OpAcquire, Resource: "a b", Attempts: 2, Reason: ErrTaken, Cause: context.Canceled, Nodes: nodes},
			`redlock: acquire "a b": held by another: context canceled after 2 attempts ` +
				`(A granted; B held by another; C failed: LOADING; D timed out; E unanswered; F Outcome(9))`, "NotAcquired Taken Canceled"},
		{Error{Op: OpExtend, Resource: "r", Reason: ErrNoQuorum, Nodes: nodes},
			`redlock: extend "r": no quorum of nodes (A extended; B not ours any more; C failed: LOADING; D timed out; E unanswered; F Outcome(9))`, "NoQuorum"},
		{Error{Op: OpRelease, Resource: "r", Reason: ErrLost, Nodes: nodes[:2]}, `redlock: release "r": lease lost (A released; B not ours any more)`, "Lost"},
		{Error{Op: OpRelease, Resource: "r", Cause: context.Canceled}, `redlock: release "r": context canceled`, "Canceled"},
		{Error{Op: Op(7), Resource: "r", Reason: ErrReleased}, `redlock: Op(7) "r": lease released`, "Released"},
	} {
		if c.err.Error() != c.want || matches(&c.err) != c.matches {
			t.Errorf("got  %v (matches %s)\nwant %s (matches %s)", &c.err, matches(&c.err), c.want, c.matches)
		}
	}
}

// The outcomes of an error say how long each node took.
func TestErrorTook(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(OpAcquire, "no:7 lost no:11")
		_, err := w.TryLock(w.Context(), "r", time.Second)
		var e *Error
		if !errors.As(err, &e) {
			w.Fatal(err)
		}
		want := []NodeOutcome{{"A", Declined, nil, millis("7")}, {"B", Unanswered, nil, 0}, {"C", Declined, nil, millis("11")}}
		for i := range want {
			if e.Nodes[i] != want[i] {
				w.Errorf("got %+v, want %+v", e.Nodes[i], want[i])
			}
		}
	})
}
