package checker

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/history"
)

// More histories: go test ./checker -rapid.checks=100000

// recorder builds a random history event by event.
type recorder struct {
	t   *rapid.T
	h   history.History
	now int64
	ops []history.Event // the calls; the first is none
}

// draw gives a number below n. It puts it together from bits, as rapid's own ranges prefer small numbers, and most
// histories would be of calls by c1 and nothing else.
func (r *recorder) draw(n int, what string) int {
	width := bits.Len(uint(n-1)) + 2
	number := 0
	for range width {
		number *= 2
		if rapid.Bool().Draw(r.t, what) {
			number++
		}
	}
	return number * n >> width
}

func (r *recorder) add(e history.Event) {
	r.now += int64(r.draw(3, "later"))
	e.Seq, e.Time = len(r.h)+1, r.now
	if e.Kind != history.Call {
		e.Basis = 0
	}
	r.h = append(r.h, e)
}

func (r *recorder) call(e history.Event) int {
	e.Kind, e.Op = history.Call, len(r.ops)
	r.ops = append(r.ops, e)
	r.add(e)
	return e.Op
}

func (r *recorder) ret(op int, outcome history.Outcome) {
	e := r.ops[op]
	e.Kind, e.Outcome = history.Return, outcome
	r.add(e)
}

// open lists the operations that can return.
func (r *recorder) open() []int {
	open := map[int]bool{}
	for _, e := range r.h {
		switch e.Kind {
		case history.Call:
			open[e.Op] = true
		case history.Return:
			delete(open, e.Op)
		case history.Crash:
			for op := range open {
				if r.ops[op].Process == e.Process {
					delete(open, op)
				}
			}
		}
	}
	var ops []int
	for op := range open {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	return ops
}

// told is how an operation returned.
func (r *recorder) told(op int) history.Outcome {
	for _, e := range r.h {
		if e.Kind == history.Return && e.Op == op {
			return e.Outcome
		}
	}
	return ""
}

// cannot reports whether the operation cannot have succeeded: its grant was refused, or released before it was called.
func (r *recorder) cannot(op int) bool {
	grant := r.ops[op].Grant
	for _, e := range r.h {
		if e.Kind == history.Call && e.Op == op {
			break
		}
		if e.Kind == history.Return && e.Func == history.Release && e.Grant == grant && e.Outcome == history.OK {
			return true
		}
	}
	return grant != 0 && r.told(grant) == history.Failed
}

// lockHistories draws histories of three clients and up to two resources with overlapping and pending operations,
// crashes, pauses, expiries, extends, unknown outcomes and effects. Most answers respect mutual exclusion, so that about
// half of the histories do.
func lockHistories(reentrant bool) *rapid.Generator[history.History] {
	return rapid.Custom(func(t *rapid.T) history.History {
		r := &recorder{t: t, ops: make([]history.Event, 1)}
		reckless := r.draw(2, "reckless") == 0
		events := 5 + r.draw(60, "events")
		for len(r.h) < events {
			process := fmt.Sprintf("c%d", 1+r.draw(3, "process"))
			var acquires []int
			for op, e := range r.ops {
				if e.Func == history.Acquire {
					acquires = append(acquires, op)
				}
			}
			acquires = slices.DeleteFunc(acquires, func(op int) bool { return r.told(op) == history.Failed })
			grant := 0
			if len(acquires) > 0 {
				// Recent ones matter most.
				grant = acquires[len(acquires)-1-r.draw(min(4, len(acquires)), "grant")]
			}
			switch action := r.draw(24, "action"); {
			case action < 4 || grant == 0:
				resource := "r"
				if r.draw(8, "resource") == 7 {
					resource = "s"
				}
				r.call(history.Event{Process: process, Func: history.Acquire, Resource: resource})
			case action < 11:
				open := r.open()
				if len(open) == 0 {
					continue
				}
				op := open[r.draw(len(open), "open")]
				outcome := []history.Outcome{history.OK, history.OK, history.OK, history.OK, history.Failed, history.Unknown}[r.draw(6, "outcome")]
				if outcome == history.OK && r.cannot(op) {
					outcome = history.Failed
				}
				before := len(r.h)
				r.ret(op, outcome)
				if !reckless && (overlapOracle(r.h, "r", reentrant) || overlapOracle(r.h, "s", reentrant)) {
					r.h = r.h[:before]
					r.ret(op, history.Failed)
				}
			case action < 13:
				r.call(history.Event{Process: r.ops[grant].Process, Func: history.Extend, Grant: grant})
			case action < 15:
				r.call(history.Event{Process: r.ops[grant].Process, Func: history.Release, Grant: grant})
			case action < 17:
				r.add(history.Event{Kind: history.Expire, Grant: grant})
			case action < 18:
				r.add(history.Event{Kind: []history.Kind{history.Crash, history.Fault}[r.draw(2, "crash")], Process: process, Name: "pause"})
			default:
				r.add(history.Event{Kind: history.Effect, Grant: grant, Outcome: history.OK,
					Func: []history.Func{history.Read, history.Write}[r.draw(2, "func")]})
			}
		}
		return r.h
	})
}

// believes says by the words of docs/checker.md whether the client of a grant believes in it after the history h.
func believes(h history.History, grant int) bool {
	var process string
	returned, over, expired := false, false, false
	for _, e := range h {
		mine := e.Grant == grant
		switch {
		case e.Kind == history.Call && e.Op == grant:
			process = e.Process
		case e.Kind == history.Return && e.Op == grant && e.Outcome == history.OK:
			returned = true
		case e.Kind == history.Expire && mine:
			expired = true
		case e.Kind == history.Return && mine && e.Func == history.Extend && e.Outcome == history.OK:
			expired = false
		case e.Kind == history.Call && mine && e.Func == history.Release:
			over = true
		case e.Kind == history.Crash && e.Process == process && process != "":
			over = true
		}
	}
	return returned && !over && !expired
}

// calls gives the calls of a history by Op.
func calls(h history.History) map[int]history.Event {
	found := map[int]history.Event{}
	for _, e := range h {
		if e.Kind == history.Call {
			found[e.Op] = e
		}
	}
	return found
}

// overlapOracle looks at every moment between two events.
func overlapOracle(h history.History, resource string, reentrant bool) bool {
	ops := calls(h)
	owner := func(grant int) any {
		if reentrant {
			return ops[grant].Process
		}
		return grant
	}
	holders := make([]map[any]bool, len(h)+1)
	for n := range holders {
		holders[n] = map[any]bool{}
		for op, call := range ops {
			if call.Func == history.Acquire && call.Resource == resource && believes(h[:n], op) {
				holders[n][owner(op)] = true
			}
		}
		if len(holders[n]) > 1 {
			return true
		}
	}
	told := map[int]history.Outcome{}
	for _, e := range h {
		if e.Kind == history.Return {
			told[e.Op] = e.Outcome
		}
	}
	for _, e := range h {
		grant := ops[e.Op].Grant
		if e.Kind != history.Return || e.Outcome != history.OK || grant == 0 || ops[grant].Resource != resource ||
			told[grant] == history.OK || told[grant] == history.Failed {
			continue
		}
		possible := false
		for n := ops[e.Op].Seq; n < e.Seq; n++ {
			possible = possible || len(holders[n]) == 0 || holders[n][owner(grant)]
		}
		if !possible {
			return true
		}
	}
	return false
}

// effectsOracle counts stale and late writes by their definition.
func effectsOracle(h history.History, resource string) (stale, late int) {
	granted := map[int]int{}
	for _, e := range h {
		if e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK {
			granted[e.Op] = e.Seq
		}
	}
	ops := calls(h)
	mine := func(n int) bool {
		e := h[n]
		return e.Kind == history.Effect && ops[e.Grant].Resource == resource && granted[e.Grant] != 0 && granted[e.Grant] <= n
	}
	for n, e := range h {
		if !mine(n) || e.Func != history.Write || believes(h[:n], e.Grant) {
			continue
		}
		after := false
		for m := range n {
			after = after || mine(m) && granted[h[m].Grant] > granted[e.Grant]
		}
		if after {
			stale++
		} else {
			late++
		}
	}
	return stale, late
}

// waitOracle looks, between every two events, at whether someone asks and no critical section is on.
func waitOracle(h history.History, resource string) time.Duration {
	ops := calls(h)
	var longest, current time.Duration
	for n := 1; n < len(h); n++ {
		asks := map[int]bool{}
		on := map[int]bool{}
		expired, released := map[int]bool{}, map[int]bool{}
		for _, e := range h[:n] {
			lock := ops[e.Op].Func == history.Acquire && ops[e.Op].Resource == resource
			switch {
			case e.Kind == history.Call && lock:
				asks[e.Op] = true
			case e.Kind == history.Return && lock:
				delete(asks, e.Op)
				on[e.Op] = e.Outcome == history.OK && !expired[e.Op] && !released[e.Op]
			case e.Kind == history.Return && e.Func == history.Extend && e.Outcome == history.OK:
				expired[ops[e.Op].Grant] = false
			case e.Kind == history.Call && e.Func == history.Release:
				released[e.Grant] = true
				delete(on, e.Grant)
			case e.Kind == history.Expire:
				expired[e.Grant] = true
				delete(on, e.Grant)
			case e.Kind == history.Crash || e.Kind == history.Fault:
				for op := range ops {
					if ops[op].Process == e.Process {
						delete(on, op)
						if e.Kind == history.Crash {
							delete(asks, op)
						}
					}
				}
			}
		}
		busy := false
		for _, is := range on {
			busy = busy || is
		}
		last := h[n-1]
		if last.Kind == history.Return && last.Outcome == history.OK && ops[last.Op].Func == history.Acquire && ops[last.Op].Resource == resource {
			current = 0
		}
		switch {
		case busy || len(asks) == 0 && h[n].Time > last.Time:
			current = 0
			continue
		case len(asks) == 0:
			continue
		}
		current += time.Duration(h[n].Time - last.Time)
		longest = max(longest, current)
	}
	return longest
}

func countOf(r Report, k Kind, resource string) int {
	for _, f := range r.Findings {
		if f.Kind == k && f.Resource == resource {
			return f.Count
		}
	}
	return 0
}

// Check itself compares hold intervals with porcupine, and returns an error if they differ.
func TestHoldsEffectsAndWaitsAsByDefinition(t *testing.T) {
	for _, reentrant := range []bool{false, true} {
		t.Run(fmt.Sprintf("reentrant=%t", reentrant), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				h := lockHistories(reentrant).Draw(t, "history")
				r, err := Check(h, Options{Reentrant: reentrant, Stopping: stopping.Stopping})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Unchecked) > 0 {
					t.Fatalf("unchecked: %+v", r.Unchecked)
				}
				for _, resource := range []string{"r", "s"} {
					if got, want := countOf(r, LeaseOverlap, resource) > 0, overlapOracle(h, resource, reentrant); got != want {
						t.Errorf("%s: overlap %t, by definition %t", resource, got, want)
					}
					stale, late := effectsOracle(h, resource)
					if got := countOf(r, StaleWrite, resource); got != stale {
						t.Errorf("%s: %d stale writes, by definition %d", resource, got, stale)
					}
					if got := countOf(r, AcceptedAfterExpiry, resource); got != late {
						t.Errorf("%s: %d accepted after expiry, by definition %d", resource, got, late)
					}
				}
				for _, m := range r.Resources {
					if want := waitOracle(h, m.Name); m.Unavailable.For != want {
						t.Errorf("%s: unavailable for %d, by definition %d", m.Name, m.Unavailable.For, want)
					}
				}
			})
		})
	}
}

// updateHistory is a run of a register on which some grants read and write, and how many of its writes met another
// version, or another number, than the one they built on. That is the same if no number is written twice.
type updateHistory struct {
	h                 history.History
	versions, numbers int
	unique            bool
}

// basis is what somebody knows of the register.
type basis struct {
	known           bool
	version, number int64
}

// register is a register while its random history is drawn.
type register struct {
	*recorder
	drawn           updateHistory
	counting, twice bool // each write has a number of its own; some messages arrive twice

	version, number, next int64
	read                  map[int]basis           // what reads told each grant
	wrote                 map[int]basis           // what each grant wrote last
	under                 map[int]basis           // what each write was called with, and each read saw
	reached               map[int]history.Outcome // how each operation that arrived fared
	blind                 map[int]bool            // the writes that rested on nothing
	busy                  map[int]int             // the operation each grant waits for
	late                  []int                   // operations that were given up before they reached the resource
}

func newRegister(t *rapid.T) *register {
	r := &register{recorder: &recorder{t: t, ops: make([]history.Event, 1)},
		read: map[int]basis{}, wrote: map[int]basis{}, under: map[int]basis{}, reached: map[int]history.Outcome{}, blind: map[int]bool{}, busy: map[int]int{}}
	r.counting = rapid.Bool().Draw(t, "counting")
	r.twice = rapid.Bool().Draw(t, "twice")
	r.drawn.unique = r.counting && !r.twice
	return r
}

// reach has an operation reach the register.
func (r *register) reach(op int) {
	e := r.ops[op]
	e.Kind, e.Outcome = history.Effect, history.OK
	if r.reached[op] == "" && r.draw(5, "refused") == 0 {
		e.Outcome = history.Failed
	}
	if e.Func == history.Read {
		e.Number = r.number
	}
	again := r.reached[op] == history.OK
	r.reached[op] = e.Outcome
	r.add(e)
	switch {
	case e.Outcome == history.Failed:
	case e.Func == history.Read:
		r.under[op] = basis{true, r.version, r.number}
	default:
		r.apply(op, e, again)
	}
}

// apply has the register take a write, and counts whether it meets what it was built on.
func (r *register) apply(op int, e history.Event, again bool) {
	b := r.under[op]
	if own := r.wrote[e.Grant]; own.known && (!b.known || own.version > b.version) {
		b = own
	}
	// What arrives again rests on what it rested on before.
	if again && r.blind[op] {
		b = basis{}
	}
	r.blind[op] = r.blind[op] || !b.known
	if b.known && b.version != r.version {
		r.drawn.versions++
	}
	if b.known && b.number != r.number {
		r.drawn.numbers++
	}
	r.version, r.number = r.version+1, e.Number
	r.wrote[e.Grant] = basis{true, r.version, r.number}
}

// step has a grant do the next thing: call an operation, give it up, have it arrive, or hear how it fared.
func (r *register) step(grant int) {
	op := r.busy[grant]
	switch {
	case len(r.late) > 0 && r.draw(4, "late") == 0:
		r.reach(r.late[0])
		r.late = r.late[1:]
	case op == 0 && rapid.Bool().Draw(r.t, "write"):
		r.next++
		value := r.next
		if !r.counting {
			value = int64(r.draw(3, "value"))
		}
		op = r.call(history.Event{Process: r.ops[grant].Process, Func: history.Write, Resource: "r", Grant: grant, Number: value})
		r.busy[grant], r.under[op] = op, r.read[grant]
	case op == 0:
		r.busy[grant] = r.call(history.Event{Process: r.ops[grant].Process, Func: history.Read, Resource: "r", Grant: grant})
	case r.reached[op] == "" && r.draw(5, "given up") == 0:
		r.ret(op, history.Unknown)
		r.busy[grant], r.late = 0, append(r.late, op)
	case r.reached[op] == "":
		r.reach(op)
	case r.twice && r.ops[op].Func == history.Write && r.reached[op] == history.OK && r.draw(4, "again") == 0:
		r.reach(op)
	default:
		r.hear(grant, op)
	}
}

// hear has an operation return to its grant, or be lost on the way.
func (r *register) hear(grant, op int) {
	outcome := r.reached[op]
	if r.draw(6, "unknown") == 0 {
		outcome = history.Unknown
	}
	e := r.ops[op]
	e.Kind, e.Outcome = history.Return, outcome
	if e.Func == history.Read && outcome == history.OK {
		e.Number, r.read[grant] = r.under[op].number, r.under[op]
	}
	r.add(e)
	r.busy[grant] = 0
}

// updateHistories draws runs in which every message takes its own time, answers are lost, writes are turned down, arrive
// after their client has given them up, or twice.
func updateHistories() *rapid.Generator[updateHistory] {
	return rapid.Custom(func(t *rapid.T) updateHistory {
		r := newRegister(t)
		var grants []int
		for i := range 2 + r.draw(3, "grants") {
			grants = append(grants, r.call(history.Event{Process: fmt.Sprintf("c%d", i+1), Func: history.Acquire, Resource: "r"}))
			r.ret(grants[i], history.OK)
		}
		for range 5 + r.draw(50, "steps") {
			r.step(grants[r.draw(len(grants), "grant")])
		}
		r.drawn.h = r.h
		return r.drawn
	})
}

func TestUpdatesAsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := updateHistories().Draw(t, "history")
		r, err := Check(u.h, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := countOf(r, LostUpdate, "r")
		if got != u.numbers {
			t.Errorf("%d lost updates, by definition %d", got, u.numbers)
		}
		if u.unique && got != u.versions {
			t.Errorf("%d lost updates, %d writes met another version", got, u.versions)
		}
	})
}

// The properties above say little if the histories are all of one sort.
func TestRandomHistoriesShowBothAnswers(t *testing.T) {
	const n = 300
	shows := map[string]int{}
	for seed := range n {
		for _, reentrant := range []bool{false, true} {
			r, err := Check(lockHistories(reentrant).Example(seed), Options{Reentrant: reentrant, Stopping: stopping.Stopping})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []Kind{LeaseOverlap, StaleWrite, AcceptedAfterExpiry} {
				if countOf(r, k, "r") > 0 {
					shows[fmt.Sprintf("%s reentrant=%t", k, reentrant)]++
				}
			}
		}
		u := updateHistories().Example(seed)
		r, err := Check(u.h, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if countOf(r, LostUpdate, "r") > 0 {
			shows["lost-update"]++
		}
	}
	t.Log(shows)
	for what, count := range shows {
		if count < n/20 || count > n*19/20 {
			t.Errorf("%s in %d of %d histories", what, count, n)
		}
	}
	if len(shows) != 7 {
		t.Errorf("shown only %v", shows)
	}
}
