package story

import (
	"testing"

	"redlocksim/sim/history"
)

// TestResourcesAreNamed: only where there are several, and a call on several is told once, with all of them.
func TestResourcesAreNamed(t *testing.T) {
	call := func(process, resource string, op, with int) history.Event {
		return history.Event{Kind: history.Call, Func: history.Acquire, Process: process, Resource: resource, Op: op, With: with}
	}
	expire := func(process string, grant int) history.Event {
		return history.Event{Kind: history.Expire, Process: process, Resource: "?", Grant: grant}
	}
	for _, x := range []struct {
		h    history.History
		want []string
	}{
		{history.History{call("c1", "a", 1, 0), call("c2", "a", 2, 0)}, []string{"c1 requests the lock", "c2 requests the lock"}},
		{history.History{call("c1", "a", 1, 0), call("c2", "b", 2, 0)}, []string{"c1 requests the lock on a", "c2 requests the lock on b"}},
		{history.History{call("c1", "b", 1, 1), call("c1", "a", 2, 1), call("c1", "c", 3, 1), expire("c1", 1), expire("c1", 2), expire("c1", 3)},
			[]string{"c1 requests the lock on b, a and c", "c1's lease on b, a and c expires by its own clock"}},
	} {
		lines := Of(x.h)
		if len(lines) != len(x.want) {
			t.Errorf("%v, want %q", lines, x.want)
			continue
		}
		for i := range lines {
			if lines[i].Text != x.want[i] {
				t.Errorf("%q, want %q", lines[i].Text, x.want[i])
			}
		}
	}
}
