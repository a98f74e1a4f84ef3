package checker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlocksim/sim/history"
)

// shown gives findings as "kind resource xcount", without that of a run that was not tested.
func shown(r Report) string {
	var all []string
	for _, f := range r.Findings {
		if f.Kind != NotTested {
			all = append(all, fmt.Sprintf("%s %s x%d", f.Kind, f.Resource, f.Count))
		}
	}
	return strings.Join(all, ", ")
}

type ruleCase struct {
	rule, script string
	o            Options
	want         string
}

func checkRules(t *testing.T, cases []ruleCase) {
	for _, c := range cases {
		r, err := Check(script(t, c.script), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if got := shown(r); got != c.want {
			t.Errorf("%s: found %q, want %q", c.rule, got, c.want)
		}
		if len(r.Unchecked) != 0 {
			t.Errorf("%s: unchecked %+v", c.rule, r.Unchecked)
		}
		for _, f := range r.Findings {
			if f.Kind == NotTested {
				continue
			}
			if len(f.Windows) == 0 || len(f.Seqs) == 0 || !slices.IsSorted(f.Seqs) || f.Seqs[0] < 1 || f.Text == "" || f.To < f.From {
				t.Errorf("%s: witness %+v", c.rule, f)
			}
		}
	}
}

func TestTheWholeReport(t *testing.T) {
	r, err := Check(script(t, `
		c1 acquire 1; ok 1
		c1 read 2 of 1; applied 2 =0; ok 2 =0
		@20; c2 acquire 3; ok 3
		c2 read 4 of 3; applied 4 =0; ok 4 =0
		c2 write 5 =5 of 3; applied 5; ok 5
		@30; expire 1
		@40; c1 write 6 =6 of 1; applied 6
		@50; crash c2
		@60; c3 acquire 7`), Options{End: 100e6})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s x%d [%v-%v #%d-#%d] seqs %v\n  %s\n", f.Kind, f.Count, f.From, f.To, f.FromSeq, f.ToSeq, f.Seqs, f.Text)
		for _, w := range f.Windows {
			fmt.Fprintf(&b, "  %s grant %d [%v-%v #%d-#%d]\n", w.Process, w.Grant, w.From, w.To, w.FromSeq, w.ToSeq)
		}
	}
	for _, m := range r.Resources {
		u := m.Unavailable
		fmt.Fprintf(&b, "%s: %d grants to %d clients; unavailable %v [%v-%v #%d-#%d] %v\n",
			m.Name, m.Grants, m.Clients, u.For, u.From, u.To, u.FromSeq, u.ToSeq, u.Clients)
	}
	const want = `lease-overlap x1 [21ms-30ms #7-#14] seqs [2 7 14 17]
  c1 (grant 1) and c2 (grant 3) both held "r" for 9ms, from 21ms.
  c1 grant 1 [1ms-30ms #2-#14]
  c2 grant 3 [21ms-50ms #7-#17]
stale-write x1 [30ms-41ms #14-#16] seqs [9 14 16]
  c1 wrote 6 to "r" 11ms after its lease (grant 1) had ended, and 18ms after c2 had read it under the later grant 3.
  c1 grant 1 [1ms-30ms #2-#14]
  c2 grant 3 [21ms-50ms #7-#17]
lost-update x1 [26ms-41ms #12-#16] seqs [3 4 8 9 12 13 16]
  c1 (grant 1) read 0 from "r" and wrote 6 over the 5 that c2 (grant 3) had written there.
  c1 grant 1 [2ms-41ms #3-#16]
  c2 grant 3 [22ms-27ms #8-#13]
r: 2 grants to 3 clients; unavailable 40ms [60ms-100ms #18-#0] [c3]
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if r.Grants != 2 || r.Passed() {
		t.Errorf("%d grants, passed %t", r.Grants, r.Passed())
	}
}

func TestResourcesAreJudgedApart(t *testing.T) {
	r, err := Check(script(t, `c1 acquire 1 a; ok 1; c2 acquire 2 b; ok 2; c2 acquire 3 a; c1 acquire 4 b; c3 acquire 5 b; ok 5`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(r); got != "lease-overlap b x1" {
		t.Errorf("found %q", got)
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		script string
		line   int
	}{
		{"c1 acquire 1; c1 acquire 1", 2},
		{"c1 acquire 5", 1},
		{"c1 acquire 1; ok 1; ok 1", 3},
		{"c1 acquire 1; crash c1; ok 1", 3},
		{"c1 extend 1 of 2", 1},
		{"c1 release 1", 1},
		{"c1 read 1; ok 1; c1 release 2 of 1", 3},
		{"crash c1; expire 1", 2},
		{"crash c1; expire 0", 2},
		{"c1 write 1 =5; ok 1 =6", 2},
		{"crash c1; effect write =1 of 1", 2},
		{"c1 read 1; applied 1 =4", 2},
		{"c1 write 1 =4; applied 1; c1 read 2; applied 2 =5", 4},
		{"c1 write 1 =4; ok 1; c1 write 2 =4; applied 2", 1},
		{"c1 write 1 =4; ok 1; applied 1", 1},
		{"c1 write 1 =4; refused 1; ok 1", 1},
		{"c1 write 1 =4; applied 1; fail 1", 1},
		{"c1 write 1 =4; applied 1 =5", 1},
		{"c1 write 1 =4; applied 1; c1 read 2; applied 2 =4; ok 2 =5", 3},
		{"c1 acquire 1 a; c1 acquire 2 b; effect write =1 of 1", 3},

		// What a write can build on.
		{"c1 acquire 1; ok 1; c1 read 2; c1 write 3 =1 of 1 upon 2", 4},
		{"c1 acquire 1; ok 1; c1 read 2; fail 2; c1 write 3 =1 of 1 upon 2", 5},
		{"c1 acquire 1; ok 1; c2 read 2; ok 2; c1 write 3 =1 of 1 upon 2", 5},
		{"c1 acquire 1; ok 1; c1 read 2 of 1; ok 2; c1 write 3 =1 of 1 upon 2", 5},
		{"c1 acquire 1; ok 1; c1 write 2 =1; ok 2; c1 write 3 =2 of 1 upon 2", 5},
		{"c1 acquire 1 a; ok 1; c1 read 2; ok 2; c1 write 3 =1 of 1 upon 2", 5},
		{"c1 acquire 1; ok 1; c1 write 2 =1 of 1 upon 9", 3},
		{"c1 read 1; ok 1; c1 read 2 upon 1", 3},

		// What only the holder can do or be told.
		{"c1 acquire 1; ok 1; c2 release 2 of 1", 3},
		{"c1 acquire 1; ok 1; c2 extend 2 of 1", 3},
		{"c1 acquire 1; ok 1; c2 write 2 =1 of 1", 3},
		{"c1 acquire 1; ok 1; c2 read 2 of 1", 3},
		{"c1 acquire 1; fail 1; c1 extend 2 of 1", 3},
		{"c1 acquire 1; fail 1; c1 release 2 of 1", 3},
		{"c1 acquire 1; c1 extend 2 of 1; fail 1; ok 2", 4},
		{"c1 acquire 1; fail 1; expire 1", 3},
		{"c1 acquire 1; fail 1; c1 write 2 =1 of 1", 3},
		{"c1 acquire 1; fail 1; effect write =1 of 1", 3},
		{"c1 acquire 1; ok 1; c1 release 2 of 1; ok 2; c1 extend 3 of 1; ok 3", 6},
		{"c1 acquire 1; ok 1; c1 release 2 of 1; ok 2; c1 release 3 of 1; ok 3", 6},
	} {
		_, err := Check(script(t, c.script), Options{})
		var invalid *history.InvalidError
		if !errors.Is(err, ErrMalformed) || !errors.As(err, &invalid) || invalid.Line != c.line {
			t.Errorf("%s: %v, want %v at line %d", c.script, err, ErrMalformed, c.line)
		}
	}
	for _, fine := range []string{
		"c1 acquire 1; ok 1; c1 release 2 of 1; c1 extend 3 of 1; ok 2; ok 3",
		"c1 acquire 1; ok 1; c1 release 2 of 1; fail 2; c1 extend 3 of 1; ok 3",
		"c1 acquire 1; ok 1; c1 release 2 of 1; unknown 2; c1 release 3 of 1; ok 3",
		"c1 acquire 1; unknown 1; c1 release 2 of 1; ok 2",
		"c1 acquire 1; ok 1; expire 1; effect write =1",
		"c1 acquire 1; ok 1; c1 write 2 =1; applied 2",
		"c1 acquire 1; expire 1; ok 1",
	} {
		if _, err := Check(script(t, fine), Options{}); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	h := script(t, "c1 acquire 1; ok 1")
	for _, spoil := range []func(e *history.Event){
		func(e *history.Event) { e.Process = "c2" },
		func(e *history.Event) { e.Func = history.Extend },
		func(e *history.Event) { e.Op = 2 },
	} {
		other := slices.Clone(h)
		spoil(&other[1])
		if _, err := Check(other, Options{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", other[1], err)
		}
	}
	for _, e := range []history.Event{
		{Seq: 1, Kind: history.Call, Func: history.Acquire, Op: 1, Resource: "r"},
		{Seq: 1, Kind: history.Call, Func: history.Acquire, Op: 1, Process: "c1"},
		{Seq: 1, Kind: history.Crash},
		{Seq: 1, Kind: history.Effect, Func: history.Read, Outcome: history.OK},
	} {
		if _, err := Check(history.History{e}, Options{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	h = script(t, "c1 acquire 1; ok 1; expire 1; c1 extend 2 of 1; ok 2; c1 write 3 =1 of 1; applied 3; ok 3; c2 acquire 4; fail 4")
	for _, c := range []struct {
		line  int
		spoil func(e *history.Event)
	}{
		{1, func(e *history.Event) { e.Token = 1 }},
		{1, func(e *history.Event) { e.Grant = 2 }},
		{2, func(e *history.Event) { e.Grant = 2 }},
		{2, func(e *history.Event) { e.Resource = "other" }},
		{3, func(e *history.Event) { e.Process = "c2" }},
		{4, func(e *history.Event) { e.Token = 1 }},
		{5, func(e *history.Event) { e.Token = 1 }},
		{5, func(e *history.Event) { e.Grant = 2 }},
		{7, func(e *history.Event) { e.Process = "c2" }},
		{7, func(e *history.Event) { e.Token = 8 }},
		{10, func(e *history.Event) { e.Token = 8 }},
	} {
		other := slices.Clone(h)
		other[1].Token = 7
		c.spoil(&other[c.line-1])
		invalid := (*history.InvalidError)(nil)
		if _, err := Check(other, Options{}); !errors.Is(err, ErrMalformed) || !errors.As(err, &invalid) || invalid.Line != c.line {
			t.Errorf("%+v: %v", other[c.line-1], err)
		}
	}
	h = script(t, "c1 acquire 1; ok 1")
	h[1].Seq = 7
	if _, err := Check(h, Options{}); !errors.Is(err, history.ErrSeq) {
		t.Errorf("gap in seq: %v", err)
	}
}

func TestNotTested(t *testing.T) {
	for _, c := range []struct {
		script string
		o      Options
		want   bool
	}{
		{"", Options{}, true},
		{"crash c1", Options{}, true},
		{"c1 acquire 1; c2 acquire 2", Options{}, true},
		{"c1 acquire 1; ok 1; c1 acquire 2", Options{}, true},
		{"c1 acquire 1 a; ok 1; c2 acquire 2 b; ok 2", Options{}, true},
		{"c1 acquire 1; unknown 1; c2 acquire 2; fail 2", Options{}, true},
		{"c1 acquire 1; ok 1; c2 acquire 2", Options{}, false},
		{"c1 acquire 1; ok 1; c2 acquire 2", Options{MinGrants: 2}, true},
		{"c1 acquire 1; ok 1; c2 acquire 2", Options{MinClients: 3}, true},
		{"c1 acquire 1; ok 1", Options{MinClients: 1}, false},
		{"c1 acquire 1; c2 acquire 2", Options{MinGrants: -1}, false},
		{"", Options{MinGrants: -1, MinClients: -1}, false},
	} {
		r, err := Check(script(t, c.script), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.script, err)
		}
		got := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == NotTested })
		if got != c.want || r.Passed() == c.want {
			t.Errorf("%q %+v: not tested %t, passed %t, want not tested %t", c.script, c.o, got, r.Passed(), c.want)
		}
	}
}

func TestAnObservationDoesNotFailARun(t *testing.T) {
	r, err := Check(script(t, "c1 acquire 1; ok 1; c2 acquire 2; expire 1; c1 write 3 =1 of 1; applied 3"), Options{})
	if err != nil || shown(r) != "accepted-after-expiry r x1" || !r.Passed() {
		t.Errorf("%v, found %q, passed %t", err, shown(r), r.Passed())
	}
}
