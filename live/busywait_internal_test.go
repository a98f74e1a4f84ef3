//go:build linux

package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/sim/history"
)

// A client waits for a lock while it has no other call about locks, until that returns or it crashes.
func TestPhases(t *testing.T) {
	call := func(client string, op int, f history.Func) history.Event {
		return history.Event{Kind: history.Call, Process: client, Op: op, Func: f, Resource: "R"}
	}
	back := func(client string, op int, f history.Func) history.Event {
		e := call(client, op, f)
		e.Kind = history.Return
		return e
	}
	with := func(e history.Event, first int) history.Event {
		e.With = first
		return e
	}
	crash := history.Event{Kind: history.Crash, Process: "c1"}
	const acquire, extend, read = history.Acquire, history.Extend, history.Read
	for name, c := range map[string]struct {
		h    history.History
		want string // when c1 begins to wait for which call; 0: it does not wait from then on
	}{
		"granted":            {history.History{call("c1", 1, acquire), back("c1", 1, acquire), call("c1", 2, extend)}, "1: 1, 2: 0, 3: 0"},
		"a read beside it":   {history.History{call("c1", 1, acquire), call("c1", 2, read), back("c1", 2, read)}, "1: 1, 3: 1"},
		"another client":     {history.History{call("c1", 1, acquire), call("c2", 2, acquire), back("c2", 2, acquire)}, "1: 1"},
		"two calls":          {history.History{call("c1", 1, acquire), call("c1", 2, acquire), back("c1", 1, acquire)}, "1: 1, 2: 0, 3: 2"},
		"beside an extend":   {history.History{call("c1", 1, extend), call("c1", 2, acquire), back("c1", 1, extend)}, "1: 0, 2: 0, 3: 2"},
		"several locks":      {history.History{with(call("c1", 1, acquire), 1), with(call("c1", 2, acquire), 1), with(back("c1", 1, acquire), 1)}, "1: 1, 3: 0"},
		"the client crashes": {history.History{call("c1", 1, acquire), crash, call("c1", 2, acquire)}, "1: 1, 2: 0, 3: 2"},
	} {
		for i := range c.h {
			c.h[i].Seq, c.h[i].Time = i+1, int64(i+1)
		}
		var got []string
		for _, p := range phases(c.h)["c1"] {
			op := 0
			if p.call != nil {
				op = p.call.Op
			}
			got = append(got, fmt.Sprintf("%d: %d", p.from, op))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// More requests to a node than there can be with pauses are a row, and rows do not overlap.
func TestWithoutPauses(t *testing.T) {
	const ms = int64(time.Millisecond)
	every := func(apart int64, n int) (at []int64) {
		for i := range int64(n) {
			at = append(at, i*apart)
		}
		return at
	}
	for name, c := range map[string]struct {
		sent []int64
		rows int
	}{
		"at once":                {every(ms/10, 101), 1},
		"at once, not for long":  {every(ms/10, 100), 0},
		"at once, twice":         {every(ms/10, 202), 2},
		"with pauses":            {every(ms, 500), 0},
		"with pauses, then none": {slices.Concat(every(ms, 50), every(ms/10, 1101)[500:650]), 1},
	} {
		if rows := withoutPauses(c.sent); len(rows) != c.rows {
			t.Errorf("%s: %v, want %d", name, rows, c.rows)
		}
	}
}
