package checker

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/history"
)

// The direct check and porcupine find the windows in the events each for itself: if one loses some, the other says so.
func TestEachCheckFindsTheOtherOut(t *testing.T) {
	h := script(t, "c1 acquire 1; ok 1; c2 acquire 2; ok 2; c1 release 3 of 1; ok 3; c2 release 4 of 2; ok 4")
	for what, spoil := range map[string]func(l *leases, t *transcript) *transcript{
		"nothing": func(_ *leases, t *transcript) *transcript { return t },
		"the direct check loses the holds": func(l *leases, t *transcript) *transcript {
			l.holds = map[string][]hold{}
			return t
		},
		"porcupine does not see the second grant": func(_ *leases, t *transcript) *transcript {
			refused := slices.Clone(h)
			refused[3].Outcome = history.Failed
			other := *t
			other.recorded = memory(refused)
			return &other
		},
	} {
		tr, err := transcribe(memory(h), 0)
		if err != nil {
			t.Fatal(err)
		}
		l := believe(tr)
		var r Report
		err = r.addHolds(spoil(l, tr), l, Options{})
		if got, want := errors.Is(err, ErrDisagree), what != "nothing"; got != want {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The two opinions on what was read and written are broken in turn, on resources with effects and without, and the other
// says so.
func TestEachOpinionOnUpdatesFindsTheOtherOut(t *testing.T) {
	const locks = "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; expire 2; "
	// Of client 2 nothing is seen, or what it wrote rests on nothing.
	without := func(all map[string][]section) map[string][]section {
		other := map[string][]section{}
		for resource, of := range all {
			other[resource] = slices.DeleteFunc(slices.Clone(of), func(s section) bool { return s.process == "c2" })
		}
		return other
	}
	blind := func(all map[string][]section) map[string][]section {
		other := map[string][]section{}
		for resource, of := range all {
			for _, s := range of {
				s.blind = true
				other[resource] = append(other[resource], s)
			}
		}
		return other
	}
	for _, c := range []struct {
		what, script string
		kind         Kind
		spoil        func(accounts) accounts
	}{
		{"lost update, with effects", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 of 1; applied 5; c2 write 6 =2 of 2; applied 6", LostUpdate,
			func(a accounts) accounts { return accounts{blind(a.sections), a.reads} }},
		{"lost update, with effects, not seen", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 of 1; applied 5; c2 write 6 =2 of 2; applied 6", LostUpdate,
			func(a accounts) accounts { return accounts{without(a.sections), a.reads} }},
		{"lost update, without effects", "c1 read 3 of 1; ok 3; c2 read 5 of 2; ok 5; c1 write 4 =1 of 1; ok 4; c2 write 6 =2 of 2; ok 6", LostUpdate,
			func(a accounts) accounts { return accounts{without(a.sections), a.reads} }},
		{"lost update, without effects, that rests on nothing", "c1 read 3 of 1; ok 3; c2 read 5 of 2; ok 5; c1 write 4 =1 of 1; ok 4; c2 write 6 =2 of 2; ok 6", LostUpdate,
			func(a accounts) accounts { return accounts{blind(a.sections), a.reads} }},
		{"stale read", "c1 write 3 =1 of 1; ok 3; c2 read 4 of 2; ok 4", StaleRead,
			func(a accounts) accounts { return accounts{a.sections, without(a.reads)} }},
		{"stale read of what is not seen to be written", "c2 write 3 =1 of 2; ok 3; c1 read 4 of 1; ok 4", StaleRead,
			func(a accounts) accounts { return accounts{without(a.sections), a.reads} }},
	} {
		tr, err := transcribe(memory(script(t, locks+c.script)), 0)
		if err != nil {
			t.Fatal(err)
		}
		a := apply(tr)
		found, err := sections(tr, a)
		if err != nil {
			t.Fatal(err)
		}
		first, second := accounts{found, reads(tr, a)}, lookedUp(tr)
		var r Report
		if err := r.judgeUpdates(tr, Options{}, a.recorded, first, second); err != nil || len(r.Findings) != 1 || r.Findings[0].Kind != c.kind {
			t.Errorf("%s: %v, %+v", c.what, err, r.Findings)
		}
		for broken, by := range map[string][2]accounts{"first": {c.spoil(first), second}, "second": {first, c.spoil(second)}} {
			var r Report
			err := r.judgeUpdates(tr, Options{}, a.recorded, by[0], by[1])
			if d := (*DisagreeError)(nil); !errors.As(err, &d) || d.Kind != c.kind || d.Direct == d.Linearizable || d.Direct != (broken == "second") {
				t.Errorf("%s, the %s opinion broken: %v", c.what, broken, err)
			}
		}
	}
}

// tangled draws a history of two clients with several grants each, and operations under them and under none, on two resources,
// in any order, with effects that are named or not, refused, late, or there twice.
func tangled(t *rapid.T) history.History {
	r := &recorder{t: t, ops: make([]history.Event, 1)}
	var grants []int
	var open []int
	style := r.draw(3, "effects") // none, named or unnamed
	for range 4 + r.draw(40, "events") {
		process := []string{"c1", "c2"}[r.draw(2, "process")]
		switch action := r.draw(12, "action"); {
		case action < 2 || len(grants) == 0:
			op := r.call(history.Event{Process: process, Func: history.Acquire, Resource: []string{"r", "s"}[r.draw(5, "resource")/4]})
			r.ret(op, history.OK)
			grants = append(grants, op)
		case action < 6 || len(open) == 0:
			e := history.Event{Process: process, Func: []history.Func{history.Read, history.Write}[r.draw(2, "func")]}
			if r.draw(6, "no grant") > 0 {
				e.Grant = grants[r.draw(len(grants), "grant")]
				e.Process, e.Resource = r.ops[e.Grant].Process, r.ops[e.Grant].Resource
			} else {
				e.Resource = "r"
			}
			if e.Func == history.Write {
				e.Number = int64(1 + r.draw(3, "number"))
				e.Basis = r.readBefore(&e)
			}
			open = append(open, r.call(e))
		default:
			i := r.draw(len(open), "open")
			e := r.ops[open[i]]
			switch {
			case style > 0 && r.draw(2, "effect") == 0:
				e.Kind, e.Outcome = history.Effect, []history.Outcome{history.OK, history.OK, history.OK, history.Failed}[r.draw(4, "refused")]
				if style == 2 {
					e.Op = 0
				}
				r.add(e)
			case r.told(open[i]) == "":
				r.ret(open[i], []history.Outcome{history.OK, history.OK, history.Unknown, history.Failed}[r.draw(4, "outcome")])
				if style == 0 || r.draw(3, "late") > 0 {
					open = append(open[:i], open[i+1:]...)
				}
			}
		}
	}
	return r.h
}

// readBefore draws a read that a write can build on; 0 if there is none, and now and then.
func (r *recorder) readBefore(e *history.Event) int {
	var found []int
	for op := range r.ops {
		x := &r.ops[op]
		if x.Func == history.Read && x.Process == e.Process && x.Resource == e.Resource && (x.Grant != e.Grant || e.Grant == 0) && r.told(op) == history.OK {
			found = append(found, op)
		}
	}
	if len(found) == 0 || r.draw(3, "basis") == 0 {
		return 0
	}
	return found[r.draw(len(found), "read")]
}

// Both opinions find the same in every history, each in its own way.
func TestOpinionsOnUpdatesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := updateHistories().Draw(t, "history")
		for _, h := range []history.History{u.h, unrecorded(u.h), tangled(t)} {
			tr, err := transcribe(memory(h), 0)
			if err != nil {
				t.Fatal(err)
			}
			a := apply(tr)
			found, err := sections(tr, a)
			if errors.Is(err, ErrMalformed) {
				continue // it contradicts itself
			}
			if err != nil {
				t.Fatal(err)
			}
			other, read := lookedUp(tr), reads(tr, a)
			for _, resource := range tr.resources {
				if !alike(found[resource], other.sections[resource]) || !alike(read[resource], other.reads[resource]) {
					t.Fatalf("%+v\n%+v\n%+v\n%+v", found[resource], other.sections[resource], read[resource], other.reads[resource])
				}
			}
		}
	})
}
