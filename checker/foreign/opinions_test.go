package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
)

// judgedBy judges a script by these opinions.
func judgedBy(t *testing.T, m Model, events string, by opinions) (*Report, error) {
	t.Helper()
	o := optionsOf(m)
	if o.leased() {
		o.Lease = 10
	}
	r := newReader(o, false)
	if _, err := r.begin("", newScanner(strings.NewReader(script(t, events)))); err != nil {
		t.Fatal(err)
	}
	if err := r.file(); err != nil {
		t.Fatal(err)
	}
	h, err := r.recording()
	if err != nil {
		t.Fatal(err)
	}
	return h.judge(o, by)
}

// without is the recording in which these operations failed, so that they show nothing.
func without(h *recording, drop func(o *operation) bool) *recording {
	other := *h
	other.ops = slices.Clone(h.ops)
	for i := range other.ops {
		if drop(&other.ops[i]) {
			other.ops[i].outcome = failed
		}
	}
	return &other
}

// Each opinion is broken in turn, and the other, which begins with the operations as they stand, must say so. A second
// opinion that took the holds from the first would agree with it.
func TestEachOpinionFindsTheOtherOut(t *testing.T) {
	// Of one process all is dropped.
	second := func(o *operation) bool { return o.process == 1 }
	for _, c := range []struct {
		model     Model
		good, bad string
	}{
		{Mutex, "0 acquire; 0 ok; 1 release; 1 ok; 0 acquire; 0 ok", "0 acquire; 0 ok; 1 acquire; 1 ok"},
		{Owner, "1 acquire; 1 ok; 0 acquire; 1 release; 0 ok; 1 ok", "0 acquire; 0 ok; 1 acquire; 1 ok"},
		{Owner, "0 acquire; 0 ok; 0 release; 0 ok", "0 acquire; 0 ok; 1 release; 1 ok"},
		{Reentrant, "0 acquire; 0 ok; 0 acquire; 0 ok", "0 acquire; 0 ok; 0 acquire; 0 ok; 0 release; 0 ok; 1 acquire; 1 ok"},
		{Fenced, "0 acquire; 0 ok 1; 0 release; 0 ok; 1 acquire; 1 ok 2", "0 acquire; 0 ok 2; 0 release; 0 ok; 1 acquire; 1 ok 1"},
		{Fenced, "0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok -1; 1 release; 1 ok; 0 acquire; 0 ok 7",
			"0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok -1; 1 release; 1 ok; 0 acquire; 0 ok 6"},
		{ReentrantFenced, "0 acquire; 0 ok 5; 0 acquire; 0 ok 5; 0 release; 0 ok; 0 release; 0 ok; 1 acquire; 1 ok 6",
			"0 acquire; 0 ok 5; 0 release; 0 ok; 1 acquire; 1 ok 5"},
		{Lease, "@0 0 acquire; @1 0 ok; @10 1 acquire; @11 1 ok", "@0 0 acquire; @1 0 ok; @8 1 acquire; @9 1 ok"},
		{Lease, "@0 0 acquire; @1 0 ok; @2 0 extend; @3 0 ok; @12 1 acquire; @12 1 ok", "@0 0 acquire; @1 0 ok; @19 1 acquire; @20 1 ok; @21 0 release; @22 0 ok"},
		{fencedLease, "@0 0 acquire; @1 0 ok 1; @10 1 acquire; @11 1 ok 2", "@0 0 acquire; @1 0 ok 2; @10 1 acquire; @11 1 ok 1"},
		{fencedLease, "@0 0 acquire; @2 1 acquire; @3 1 ok 1; @30 0 ok 2", "@0 0 acquire; @2 1 acquire; @3 1 ok 2; @30 0 ok 1"},
		{Fenced, "0 write {:token,1}; 0 ok; 1 write {:token,1}; 1 ok", "0 write {:token,2}; 0 ok; 1 write {:token,1}; 1 ok"},
	} {
		for events, bad := range map[string]bool{c.good: false, c.bad: true} {
			if r, err := judgedBy(t, c.model, events, bothOpinions); err != nil || r.Good() == bad || r.Confirmed != r.Locks {
				t.Errorf("%s, %s: %+v, %v", c.model, events, r, err)
			}
		}
		silent := func(*recording, []int32, Options) judgement { return judgement{} }
		accusing := func(*recording, []int32, Options) judgement {
			return judgement{breaches: []breach{conflict(checker.LeaseOverlap, none, 0)}}
		}
		says := func(legal bool) func(*recording, []int32, Options) (bool, string) {
			return func(*recording, []int32, Options) (bool, string) { return legal, "" }
		}
		broken := map[string]struct {
			events string
			by     opinions
		}{
			"first finds nothing":      {c.bad, opinions{silent, bothOpinions.second}},
			"first finds what is not":  {c.good, opinions{accusing, bothOpinions.second}},
			"second finds nothing":     {c.bad, opinions{bothOpinions.first, says(true)}},
			"second finds what is not": {c.good, opinions{bothOpinions.first, says(false)}},
			"first does not see process 1": {c.bad, opinions{func(h *recording, ops []int32, o Options) judgement {
				return bothOpinions.first(without(h, second), ops, o)
			}, bothOpinions.second}},
			"second does not see process 1": {c.bad, opinions{bothOpinions.first, func(h *recording, ops []int32, o Options) (bool, string) {
				return bothOpinions.second(without(h, second), ops, o)
			}}},
		}
		for what, b := range broken {
			_, err := judgedBy(t, c.model, b.events, b.by)
			disagree := (*checker.DisagreeError)(nil)
			if !errors.As(err, &disagree) || disagree.Direct == disagree.Linearizable {
				t.Errorf("%s, %s: the %s: %v, want a disagreement", c.model, b.events, what, err)
			}
		}
	}
}

// The first opinion is broken where it finds the holds, as a bug would break it.
func TestHoldsThatAreDroppedAreMissed(t *testing.T) {
	for _, m := range []Model{Owner, Reentrant, Fenced, ReentrantFenced, Lease, fencedLease} {
		dropping := func(h *recording, ops []int32, o Options) judgement {
			e := h.evidence(ops, o)
			e.holds = nil
			first, _ := h.crowds(e, sharing{})
			all := judgement{breaches: e.breaches}
			if first != nil {
				all.breaches = append(all.breaches, *first)
			}
			return all
		}
		_, err := judgedBy(t, m, "@0 0 acquire; @1 0 ok 1; @2 1 acquire; @3 1 ok 2", opinions{dropping, bothOpinions.second})
		if !errors.Is(err, checker.ErrDisagree) {
			t.Errorf("%s: %v, want a disagreement", m, err)
		}
	}
}

// Where one opinion gives up the other's counts, alone; where both do, there is no verdict.
func TestAnOpinionThatGivesUp(t *testing.T) {
	const events = "0 acquire; 0 ok 1; 0 release; 0 ok; 1 acquire; 1 ok 2"
	for _, c := range []struct {
		first judgement
		legal bool
		why   string
		want  string
	}{
		{judgement{}, true, "", "confirmed"},
		{judgement{}, false, "too many", "good"},
		{judgement{undecided: "too long"}, true, "", "good"},
		{judgement{undecided: "too long"}, false, "", "bad"},
		{judgement{undecided: "too long"}, false, "too many", "error"},
	} {
		r, err := judgedBy(t, Fenced, events, opinions{
			func(*recording, []int32, Options) judgement { return c.first },
			func(*recording, []int32, Options) (bool, string) { return c.legal, c.why },
		})
		got := "error"
		switch {
		case err == nil && r.Confirmed == 1 && r.Good():
			got = "confirmed"
		case err == nil && r.Good():
			got = "good"
		case err == nil:
			got = "bad"
		case !errors.Is(err, ErrUndecided):
			t.Errorf("%+v: %v", c, err)
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A history that is bad on one lock stays so where nobody can tell about another.
func TestABadHistoryThatIsNotDecided(t *testing.T) {
	for _, isBad := range []bool{false, true} {
		told := 0
		r, err := judgedBy(t, Owner, "0 acquire [a,nil]; 0 ok; 1 acquire [a,nil]; 1 ok; 0 acquire [b,nil]; 0 ok", opinions{
			func(h *recording, ops []int32, o Options) judgement {
				if told++; told == 2 {
					return judgement{undecided: "too long"}
				}
				if isBad {
					return h.intervals(ops, o)
				}
				return judgement{}
			},
			func(*recording, []int32, Options) (bool, string) {
				if told == 2 {
					return false, "too many"
				}
				return !isBad, ""
			},
		})
		switch {
		case !isBad && !errors.Is(err, ErrUndecided):
			t.Errorf("%+v, %v", r, err)
		case isBad && (err != nil || shown(r) != "lease-overlap x1 1-2,3-4" || len(r.Notes) != 1 || r.Notes[0] != "line 5: undecided: too long; too many"):
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// Worlds that are too many are given up, in time.
func TestTooManyWorlds(t *testing.T) {
	var events strings.Builder
	for p := range 30 {
		fmt.Fprintf(&events, "%d acquire; %d info; %d release;", p, p, p)
	}
	events.WriteString("40 acquire; 40 ok 5; 40 release; 40 ok; 40 acquire; 40 ok 7; 40 release; 40 ok;")
	for p := range 30 {
		fmt.Fprintf(&events, "%d ok;", p)
	}
	r, err := judgedBy(t, Fenced, events.String()+"0 acquire; 0 fail", bothOpinions)
	if err != nil || !r.Good() || r.Confirmed != 0 || !strings.Contains(r.Unconfirmed, "the tokens were not understood within") {
		t.Errorf("%+v, %v", r, err)
	}
}
