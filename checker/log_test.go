package checker

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/history"
)

// logOf writes a history and reads it as a Log.
func logOf(t interface{ Fatal(...any) }, h history.History) *Log {
	var b bytes.Buffer
	if err := history.Encode(&b, h); err != nil {
		t.Fatal(err)
	}
	l, err := ReadLog(&b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// adorned has what a Log leaves out, at random places: steps, faults, and the fields that are for people.
func adorned(t *rapid.T, h history.History) history.History {
	some := func(what string, words ...string) string { return rapid.SampledFrom(words).Draw(t, what) }
	var all history.History
	for _, e := range h {
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			all = append(all, history.Event{Time: e.Time, Kind: history.Kind(some("kind", "step", "fault")), Process: some("process", "c1", "c2"),
				Op: e.Op, Grant: e.Grant, Func: e.Func, Outcome: e.Outcome, Resource: e.Resource, Name: some("name", "pause", "kill", "granted")})
		}
		e.Name, e.Node, e.Detail, e.Span = some("name", "", "late"), some("node", "", "A"), some("detail", "", "why"), rapid.Int64().Draw(t, "span")
		all = append(all, e)
	}
	high, granted := int64(0), map[int]int64{}
	for i := range all {
		e := &all[i]
		e.Seq = i + 1
		if e.Kind == history.Return && e.Func == history.Acquire || e.Kind == history.Effect {
			e.Token = max(0, high+rapid.Int64Range(-2, 3).Draw(t, "token"))
			high = max(high, e.Token)
			switch {
			case e.Kind == history.Return && e.Outcome != history.OK:
				e.Token = 0
			case e.Kind == history.Return:
				granted[e.Op] = e.Token
			case granted[e.Grant] != 0:
				e.Token = granted[e.Grant]
			}
		}
	}
	return all
}

func TestALogIsJudgedAsItsHistory(t *testing.T) {
	found, refused := map[Kind]int{}, 0
	judge := func(t *rapid.T) {
		o := Options{Reentrant: rapid.Bool().Draw(t, "reentrant")}
		h := rapid.OneOf(lockHistories(o.Reentrant), rapid.Map(updateHistories(), func(u updateHistory) history.History { return u.h })).Draw(t, "history")
		h = adorned(t, h)
		if rapid.IntRange(0, 9).Draw(t, "spoil") == 0 {
			h[rapid.IntRange(0, len(h)-1).Draw(t, "event")].Grant = rapid.IntRange(0, 50).Draw(t, "grant")
		}
		l := logOf(t, h)
		var kept history.History
		for e := range l.Events() {
			kept = append(kept, *e)
		}
		var want history.History
		for _, e := range h {
			if e.Kind != history.Step && e.Kind != history.Fault {
				e.Name, e.Node, e.Detail, e.Span = "", "", "", 0
				want = append(want, e)
				if got := l.Event(e.Seq); *got != e {
					t.Fatalf("event %d is %+v, want %+v", e.Seq, got, e)
				}
			}
		}
		if !slices.Equal(kept, want) || l.Len() != len(h) {
			t.Fatalf("kept %+v of %d, want %+v", kept, l.Len(), want)
		}
		whole, wholeErr := Check(h, o)
		r, err := l.Check(o)
		if fmt.Sprint(err) != fmt.Sprint(wholeErr) {
			t.Fatalf("%v, the history %v", err, wholeErr)
		}
		for i, m := range whole.Resources {
			whole.Resources[i] = Resource{Name: m.Name, Grants: m.Grants, Clients: m.Clients}
		}
		if !reflect.DeepEqual(r, whole) {
			t.Fatalf("%+v, the history %+v", r, whole)
		}
		for _, f := range r.Findings {
			found[f.Kind]++
		}
		if err != nil {
			refused++
		}
	}
	for range 10 { // or what is rare may not be met at all
		rapid.Check(t, judge)
	}
	if refused == 0 || found[LeaseOverlap] == 0 || found[StaleWrite] == 0 || found[LostUpdate] == 0 || found[TokenRegressed] == 0 || found[TokenRepeated] == 0 {
		t.Errorf("refused %d, found %v", refused, found)
	}
}

func TestReadLogRefusesWhatAReaderDoes(t *testing.T) {
	for _, in := range []string{"", "{}\n", `{"seq":1,"t":0,"kind":"crash"}`, `{"seq":2,"t":0,"kind":"crash"}` + "\n"} {
		l, err := ReadLog(strings.NewReader(in))
		_, want := history.Decode(strings.NewReader(in))
		if l != nil || err == nil || fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%q: %v, %v; want %v", in, l, err, want)
		}
	}
}

func TestALogIsBounded(t *testing.T) {
	h := history.History{
		{Kind: history.Fault, Name: "pause"}, {Kind: history.Call, Process: "c", Op: 1, Func: history.Acquire, Resource: "r"},
		{Kind: history.Step}, {Kind: history.Crash, Process: "c"}, {Kind: history.Call, Process: "c", Op: 2, Func: history.Acquire, Resource: "r"},
		{Kind: history.Expire, Grant: 2}, {Kind: history.Return, Process: "c", Op: 2, Func: history.Acquire, Outcome: history.Failed},
	}
	for i := range h {
		h[i].Seq = i + 1
	}
	for _, c := range []struct{ events, line int }{{5, 0}, {4, 7}, {1, 4}, {0, 2}} {
		var b bytes.Buffer
		if err := history.Encode(&b, h); err != nil {
			t.Fatal(err)
		}
		l, err := readLog(&b, c.events)
		var invalid *history.InvalidError
		switch {
		case c.line == 0 && (err != nil || l.Len() != len(h)):
			t.Errorf("%+v: %v", c, err)
		case c.line != 0 && (!errors.Is(err, ErrTooLong) || !errors.As(err, &invalid) || invalid.Line != c.line):
			t.Errorf("%+v: %v", c, err)
		}
	}
}
