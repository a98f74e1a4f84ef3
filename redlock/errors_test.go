package redlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

func TestErrorText(t *testing.T) {
	nodes := []observe.NodeOutcome{
		{Node: "A", Outcome: driver.Accepted, Took: time.Millisecond}, {Node: "B", Outcome: driver.Declined}, {Node: "C", Outcome: driver.Failed, Err: errors.New("LOADING")},
		{Node: "D", Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, {Node: "E"}, {Node: "F", Outcome: driver.Outcome(9)},
	}
	for _, c := range []struct {
		err           Error
		want, matches string
	}{
		{Error{Op: driver.OpAcquire, Resource: "a b", Attempts: 2, Reason: ErrTaken, Cause: context.Canceled, Nodes: nodes},
			`redlock: acquire "a b": held by another: context canceled after 2 attempts ` +
				`(A granted; B held by another; C failed: LOADING; D timed out; E unanswered; F Outcome(9))`, "NotAcquired Taken Canceled"},
		{Error{Op: driver.OpExtend, Resource: "r", Reason: ErrNoQuorum, Nodes: nodes},
			`redlock: extend "r": no quorum of nodes (A extended; B not ours any more; C failed: LOADING; D timed out; E unanswered; F Outcome(9))`, "NoQuorum"},
		{Error{Op: driver.OpRelease, Resource: "r", Reason: ErrLost, Nodes: nodes[:2]}, `redlock: release "r": lease lost (A released; B not ours any more)`, "Lost"},
		{Error{Op: driver.OpRelease, Resource: "r", Reason: ErrNoQuorum, NodeTimeout: 50 * time.Millisecond, Nodes: nodes[3:5]},
			`redlock: release "r": no quorum of nodes (D timed out after 50ms; E unanswered)`, "NoQuorum"},
		{Error{Op: driver.OpAcquire, Resource: "r\x1b[2J\n", Reason: ErrNoQuorum, Nodes: []observe.NodeOutcome{{Node: "A", Outcome: driver.Failed, Err: errors.New("ERR \x1b[2J\r\n::error::")}}},
			`redlock: acquire "r\x1b[2J\n": no quorum of nodes (A failed: ERR \x1b[2J\r\n::error::)`, "NotAcquired NoQuorum"},
		{Error{Op: driver.OpRelease, Resource: "r", Cause: context.Canceled}, `redlock: release "r": context canceled`, "Canceled"},
		{Error{Op: driver.Op(7), Resource: "r", Reason: ErrReleased}, `redlock: Op(7) "r": lease released`, "Released"},
	} {
		if c.err.Error() != c.want || matches(&c.err) != c.matches {
			t.Errorf("got  %v (matches %s)\nwant %s (matches %s)", &c.err, matches(&c.err), c.want, c.matches)
		}
	}
}

// The outcomes of an error say how long each node took: from the start of the attempt, also for its second token.
func TestErrorTook(t *testing.T) {
	for _, c := range []struct {
		acquires []string
		options  []Option
		want     []observe.NodeOutcome
	}{
		{[]string{"no:7 lost no:11"}, nil,
			[]observe.NodeOutcome{{Node: "A", Outcome: Declined, Took: millis("7")}, {Node: "B"}, {Node: "C", Outcome: Declined, Took: millis("11")}}},
		{[]string{"behind7:1 behind7:2 lost", "no:1 no:3 lost"}, []Option{fenced},
			[]observe.NodeOutcome{{Node: "A", Outcome: Declined, Took: millis("3")}, {Node: "B", Outcome: Declined, Took: millis("5")}, {Node: "C"}}},
	} {
		in(t, 3, func(w *world) {
			for _, plans := range c.acquires {
				w.script(driver.OpAcquire, plans)
			}
			_, err := w.TryLock(w.Context(), "r", time.Second)
			var e *Error
			if !errors.As(err, &e) {
				w.Fatal(err)
			}
			for i := range c.want {
				if e.Nodes[i] != c.want[i] {
					w.Errorf("got %+v, want %+v", e.Nodes[i], c.want[i])
				}
			}
		}, c.options...)
	}
}

// An error is short however long the name and the answers of the nodes are, and a name that is too long is refused.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 64<<20)
	in(t, 3, func(w *world) {
		_, err := w.TryLock(w.Context(), long, time.Second)
		if matches(err) != "Invalid" || len(err.Error()) > 400 || !strings.Contains(err.Error(), "67108864 bytes") || w.sent(driver.OpAcquire) != "000" {
			w.Errorf("%.500v", err)
		}
		if _, err = w.TryLockAll(w.Context(), []string{long, "r"}, time.Second); matches(err) != "Invalid" || len(err.Error()) > 400 {
			w.Errorf("%.500v", err)
		}
		lease, err := w.TryLock(w.Context(), long[:maxResource], time.Second)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := w.TryLock(w.Context(), long[:maxResource], time.Second); len(err.Error()) > 400 {
			w.Errorf("%.500v", err)
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
	})
	e := &Error{Op: driver.OpAcquire, Resource: long, Reason: ErrNoQuorum, Nodes: []observe.NodeOutcome{{Node: "A", Outcome: driver.Failed, Err: errors.New(long)}}}
	if n := len(e.Error()); n > 1000 {
		t.Errorf("%d bytes", n)
	}
}

// What a node failed with can be matched.
func TestErrorOfANode(t *testing.T) {
	limit := &driver.MaxTTLError{Node: time.Second, Client: time.Minute}
	err := error(&Error{Op: driver.OpAcquire, Reason: ErrNoQuorum, Nodes: []observe.NodeOutcome{
		{Node: "A", Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, {Node: "B", Outcome: driver.Failed, Err: limit}, {Node: "C", Outcome: driver.Refused, Err: errScripted}}})
	if found := (*driver.MaxTTLError)(nil); !errors.As(err, &found) || found != limit {
		t.Error("the error of the node that failed is not found")
	}
	if !errors.Is(err, ErrMaxTTL) || errors.Is(&Error{Nodes: []observe.NodeOutcome{{Outcome: Failed, Err: errScripted}}}, ErrMaxTTL) {
		t.Error("a restart guard with another MaxTTL, and nothing else, is ErrMaxTTL")
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errScripted) {
		t.Error("a node that is not there is taken for the end of the call")
	}
}
