package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// ask asks the engine as the page does.
func ask[T any](t *testing.T, q Request) (answer T) {
	t.Helper()
	var reply struct {
		OK    T
		Error string
	}
	if err := json.Unmarshal(raw(t, q), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Error != "" {
		t.Fatalf("%+v: %s", q, reply.Error)
	}
	return reply.OK
}

func raw(t *testing.T, q Request) []byte {
	t.Helper()
	request, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return Answer(context.Background(), request)
}

const jump = "17-clock-jump"

func textOf(t *testing.T, name string) string {
	t.Helper()
	return ask[string](t, Request{Do: "file", Name: name})
}

// Every scenario of the catalogue is in the gallery once, and opens in the editor without a mistake.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, theme := range ask[[]Theme](t, Request{Do: "catalogue"}) {
		for _, e := range theme.Entries {
			if seen[e.Name] {
				t.Errorf("%s is there twice", e.Name)
			}
			seen[e.Name] = true
			s, cases, _, err := read(&Request{Text: textOf(t, e.Name)})
			if err != nil || len(cases) > 0 {
				t.Errorf("%s in the editor: %v, cases %v", e.Name, err, cases)
				continue
			}
			if e.Breaks == strings.HasPrefix(e.Expected, "holds") {
				t.Errorf("%s: breaks %v, and expects %s", e.Name, e.Breaks, s.Expect)
			}
		}
	}
	if len(seen) != len(scenarios.Catalogue()) {
		t.Errorf("%d of %d scenarios are in the gallery", len(seen), len(scenarios.Catalogue()))
	}
}

// A run has the hashes of the command's, and the command that makes it again.
func TestRun(t *testing.T) {
	s, _ := scenarios.Find(jump)
	want := scenariotest.Judged(t, s, scenarios.Options{Seed: 7})
	text := textOf(t, jump)
	r := ask[Run](t, Request{Do: "run", Text: text, Name: jump, Seed: 7})
	if r.History != want.HistoryHash || r.Trace != want.TraceHash || r.Shown != broken || !r.AsExpected || r.Verdict != "two holders (lease-overlap)" || r.Says != "The lock breaks" {
		t.Errorf("%+v, want %s and %s", r, want.HistoryHash, want.TraceHash)
	}
	if !strings.Contains(r.Page, "redlocksim run 17-clock-jump --seed 7") {
		t.Error("the page does not say how to make the run again")
	}
	changed := ask[Run](t, Request{Do: "run", Text: strings.Replace(text, "by: 10s", "by: 1s", 1), Name: jump})
	if changed.Shown != scenarios.Safe || changed.AsExpected || strings.Contains(changed.Page, "redlocksim run 17-clock-jump") {
		t.Errorf("with a smaller step: %s, as expected %v, or the command is that of the catalogue's", changed.Shown, changed.AsExpected)
	}
	if strings.Contains(changed.Page, "NOT AS EXPECTED") || !strings.Contains(changed.Page, "✓ holds (the file expects: two holders (lease-overlap), beyond the budget)") {
		t.Error("the page of a file that somebody changed sounds the alarm when the lock holds")
	}
	idle := ask[Run](t, Request{Do: "run", Text: strings.Replace(text, "hold: 8s", "hold: 10ms", 1), Name: jump})
	if idle.Shown != verdict.NothingTested || strings.Contains(idle.Page, "<strong>✓") {
		t.Errorf("a run that shows %s has a tick", idle.Shown)
	}
	if svg := ask[string](t, Request{Do: "drawing", Text: text, Name: jump}); !strings.HasPrefix(svg, "<svg") {
		t.Errorf("the drawing begins with %.40q", svg)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"titel: x\n", `{"line":1,"column":1,"text":"unknown key \"titel\"; did you mean \"title\"?","warning":false}`},
		{"title: [\n", `"line":`},
		{"", `"error":`},
		{strings.Replace(textOf(t, jump), "by: 10s", "by: 10 parsecs", 1), `"line":13,"column":`},
	} {
		if got := string(raw(t, Request{Do: "run", Text: c.text})); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	for _, request := range []string{"", "{}", `{"do": "no such thing"}`, `{"do": "file", "name": "no-such-scenario"}`, `{"do": "set", "text": "title: x", "path": "a b", "word": "}"}`} {
		if got := string(Answer(context.Background(), []byte(request))); !strings.HasPrefix(got, `{"error":"`) {
			t.Errorf("%s: %s", request, got)
		}
	}
}

// Each slider has its value among those that it takes, and changes the file so that it has another one, and nothing else.
func TestSliders(t *testing.T) {
	for _, name := range []string{jump, "24-restart-at-once/one-of-three", "32-pause-before-write", "34-fencing/paused", "01-setnx-then-expire/a-minute", "47-consensus/holder-dies"} {
		text := textOf(t, name)
		before := ask[[]Slider](t, Request{Do: "sliders", Text: text})
		if len(before) < 4 {
			t.Errorf("%s: %d sliders", name, len(before))
		}
		for i, s := range before {
			at := slices.Index(s.Values, s.Value)
			if at < 0 {
				t.Errorf("%s: %s is %s, which is not among %v", name, s.Path, s.Value, s.Values)
				continue
			}
			other := s.Values[(at+1)%len(s.Values)]
			answer := string(raw(t, Request{Do: "set", Text: text, Path: s.Path, Word: other}))
			if strings.HasPrefix(answer, `{"error"`) {
				if !strings.Contains(shownAt(t, text, s.Path, other), invalid) {
					t.Errorf("%s: %s=%s: %s", name, s.Path, other, answer)
				}
				continue
			}
			changed := ask[string](t, Request{Do: "set", Text: text, Path: s.Path, Word: other})
			after := ask[[]Slider](t, Request{Do: "sliders", Text: changed})
			for j, o := range after {
				if j < len(before) && o.Path == before[j].Path && i != j && o.Value != before[j].Value && !strings.HasPrefix(o.Path, "lock.quorum") {
					t.Errorf("%s: %s=%s changes %s from %s to %s", name, s.Path, other, o.Path, before[j].Value, o.Value)
				}
				if o.Path == s.Path && o.Value != other {
					t.Errorf("%s: %s is %s after it was set to %s", name, s.Path, o.Value, other)
				}
			}
		}
	}
}

// shownAt is what the track says of a value.
func shownAt(t *testing.T, text, path, word string) string {
	t.Helper()
	return ask[Tip](t, Request{Do: "tips", Text: text, Path: path, Values: []string{word}}).Shown[0]
}

// A value that is changed in place leaves comments alone.
func TestSetKeepsComments(t *testing.T) {
	text := "# mine\n" + strings.Replace(textOf(t, jump), "by: 10s", "by: 10s # ahead", 1)
	text = strings.Replace(text, "by: 10s # ahead}}}", "by: 10s}}} # ahead", 1)
	if got, want := ask[string](t, Request{Do: "set", Text: text, Path: "timeline[2].fault.clock-step.by", Word: "3s"}), strings.Replace(text, "10s}}}", "3s}}}", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A note says where a setting tips, at most three times, or what all values show that the lock takes.
func TestNotes(t *testing.T) {
	values := []string{"0s", "1s", "2s", "3s", "4s"}
	for _, c := range []struct {
		shown, tips []string
		want        string
	}{
		{[]string{"safe", "broken", "safe", "broken", "safe"}, values[1:], "breaks from about 1s, holds from about 2s, breaks from about 3s"},
		{[]string{"broken", "broken", "not tested", "invalid", "invalid"}, nil, "broken or not tested at all values"},
		{[]string{"safe", "safe", "safe", "safe", "safe"}, nil, "safe at all values"},
		{[]string{"invalid", "invalid", "invalid", "invalid", "invalid"}, nil, "not allowed at all values"},
	} {
		if got := (&Tip{Shown: c.shown, Tips: c.tips}).note(values); got != c.want {
			t.Errorf("%v: %q, want %q", c.shown, got, c.want)
		}
	}
}

// The clock jump tips where the key of C no longer lasts as long as client 1 works, 2 s before its end.
func TestTips(t *testing.T) {
	got := ask[Tip](t, Request{Do: "tips", Text: textOf(t, jump), Path: "timeline[2].fault.clock-step.by", Values: []string{"1s", "1.9s", "2s", "9s", "nonsense"}})
	if want := []string{"safe", "safe", "broken", "broken", "invalid"}; !slices.Equal(got.Shown, want) || !slices.Equal(got.Tips, []string{"2s"}) || got.Note != "breaks from about 2s" {
		t.Errorf("%+v, want %v, tipping at 2s", got, want)
	}
	// Where nobody gets an answer in time, nothing is shown; nor where the lease is over when the clock jumps, nor where the
	// run ends before the late write arrives.
	for _, c := range []struct{ name, path, word string }{
		{jump, "network.latency", "10s"},
		{jump, "lock.drift.constant", "9s"},
		{"32-pause-before-write", "timeline[1].fault.pause.for", "40s"},
	} {
		if got := shownAt(t, textOf(t, c.name), c.path, c.word); got != verdict.NothingTested {
			t.Errorf("%s with %s=%s: %s", c.name, c.path, c.word, got)
		}
	}
}

func TestFormula(t *testing.T) {
	for _, s := range ask[[]Slider](t, Request{Do: "sliders", Text: textOf(t, "24-restart-at-once/one-of-three")}) {
		if strings.HasSuffix(s.Path, "restart-after") {
			if !strings.HasPrefix(s.Formula, "at least 9.9s, which is what is left of the holder's lease") {
				t.Errorf("the formula for %s: %q", s.Path, s.Formula)
			}
			return
		}
	}
	t.Error("the restart has no slider")
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          string
		from          int // characters before the cursor
	}{
		{"ti", "", "title", 2},
		{"nodes:\n  per", "", "persistence", 3},
		{"nodes: {persistence: ev", "}\n", "every-second", 2},
		{"timeline:\n  - {at: 0s, ", "}\n", "fault", 0},
		{"timeline:\n  - {at: 0s, fault: {clock-st", "}}\n", "clock-step", 8},
		{"timeline:\n  - {at: 0s, fault: {kill: {", "}}}\n", "restart-after", 0},
		{"# größer 🔒\nclaim: ho", "\n", "holds", 2},
		{"lock:\n  ttl: 3s\n  fen", "\n", "fencing", 3},
	} {
		units := 0
		for _, r := range c.before {
			units++
			if r > 0xffff {
				units++
			}
		}
		got := ask[Completions](t, Request{Do: "complete", Text: c.before + c.after, Offset: units})
		if got.From != units-c.from || !slices.ContainsFunc(got.Options, func(o Completion) bool { return o.Label == c.want }) {
			t.Errorf("after %q: %+v, want %s from %d", c.before, got, c.want, units-c.from)
		}
	}
	for _, nowhere := range []string{"title: [", "a: b: c: ", "\t\t"} {
		ask[Completions](t, Request{Do: "complete", Text: nowhere, Offset: len(nowhere)})
	}
}

// A search finds a way to break a lock whose nodes forget, and the file that it gives breaks it.
func TestWorse(t *testing.T) {
	w := ask[Worse](t, Request{Do: "worse", Text: textOf(t, jump), Runs: 20, Seed: 1})
	if w.Text == "" {
		t.Fatalf("nothing in %d runs", w.Runs)
	}
	if r := ask[Run](t, Request{Do: "run", Text: w.Text, Seed: w.Seed}); r.Problems != nil || r.Shown != broken {
		t.Errorf("what was found does not repeat: %v", r.Problems)
	}
}

func TestAudit(t *testing.T) {
	a := ask[struct {
		Assumptions []struct{ Name, Verdict string }
		Shown       []Shown
	}](t, Request{Do: "audit", Text: "library: redsync\nttl: 8s\npersistence: everysec\nrestart-delay: 5s\n"})
	for i, x := range a.Assumptions {
		if x.Verdict == "UNSAFE" {
			if r := ask[Run](t, Request{Do: "run", Text: a.Shown[i].Text}); r.Shown != broken {
				t.Errorf("%s is unsafe, and its run shows nothing", x.Name)
			}
			return
		}
	}
	t.Errorf("nothing is unsafe: %+v", a.Assumptions)
}
