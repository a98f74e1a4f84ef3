package timeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
	"redlocksim/sim/network"
)

func timelineOf(t testing.TB, r *verdict.Result) *Timeline {
	t.Helper()
	line, err := Of(r, "redlocksim run "+r.Scenario.Name)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func drawn(t testing.TB, name string) (*verdict.Result, *Timeline) {
	t.Helper()
	r := scenariotest.Judged(t, scenariotest.Named(t, name), scenarios.Options{})
	return r, timelineOf(t, r)
}

// recording is a run, and what was recorded of it when it was made again.
type recording struct {
	*verdict.Result
	*recorder
}

// catalogue is a run of every embedded scenario.
var catalogue = sync.OnceValues(func() (all []recording, err error) {
	for _, s := range scenarios.Catalogue() {
		r, err := verdict.Judge(s, scenarios.Options{})
		if err != nil {
			return nil, err
		}
		rec, err := record(r)
		if err != nil {
			return nil, err
		}
		all = append(all, recording{r, rec})
	}
	return all, nil
})

// recorded is what is recorded of a run.
func recorded(t testing.TB, r *verdict.Result) *recorder {
	t.Helper()
	rec, err := record(r)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// each runs a test on every embedded scenario.
func each(t *testing.T, test func(*testing.T, *verdict.Result, *Timeline)) {
	all, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		t.Run(r.Scenario.Name, func(t *testing.T) {
			line, err := build(r.Result, r.recorder, "redlocksim run "+r.Scenario.Name)
			if err != nil {
				t.Fatal(err)
			}
			test(t, r.Result, line)
		})
	}
}

func (t *Timeline) lane(name string) *Lane {
	for i := range t.Lanes {
		if t.Lanes[i].Name == name {
			return &t.Lanes[i]
		}
	}
	return nil
}

func (l *Lane) all(kind SpanKind) []Span {
	var found []Span
	for _, s := range l.Spans {
		if s.Kind == kind {
			found = append(found, s)
		}
	}
	return found
}

// isWhole says that nothing was left out.
func (t *Timeline) isWhole() bool { return t.Focus.From == 0 && len(t.Notes) == 0 }

// A lease that is not extended is believed in from its grant to whatever ends it first: an expiry, the call of the
// release, a crash. Each such bar must be there, with these very times; the rule is that of docs/checker.md, written down once
// more.
func TestBeliefsAreBars(t *testing.T) {
	bars := 0
	each(t, func(t *testing.T, r *verdict.Result, line *Timeline) {
		if !line.isWhole() {
			t.Skip("only a part is drawn")
		}
		end := Instant(r.Scenario.Duration)
		h := r.History
		for i, e := range h {
			if e.Kind != history.Return || e.Func != history.Acquire || e.Outcome != history.OK {
				continue
			}
			ends, isOver, wasOver, isExtended := end, false, false, false
			for _, x := range h[:i] {
				wasOver = wasOver || x.Kind == history.Expire && x.Grant == e.Op
			}
			for _, x := range h[i+1:] {
				isExtended = isExtended || x.Kind == history.Return && x.Func == history.Extend && x.Outcome == history.OK && x.Grant == e.Op
				if !isOver && (x.Grant == e.Op && (x.Kind == history.Expire || x.Kind == history.Call && x.Func == history.Release) || x.Kind == history.Crash && x.Process == e.Process) {
					ends, isOver = Instant(x.Time), true
				}
			}
			if isExtended {
				continue
			}
			found := slices.DeleteFunc(line.lane(e.Process).all(believedSpan), func(s Span) bool { return s.Grant != e.Op })
			switch {
			case wasOver && len(found) == 0:
			case wasOver, len(found) != 1, found[0].From != Instant(e.Time), found[0].To != ends, found[0].Open != !isOver:
				t.Errorf("grant %d is believed in from %d to %d (over: %t), the bars are %+v", e.Op, e.Time, ends, isOver, found)
			default:
				bars++
			}
		}
	})
	if bars < 300 {
		t.Errorf("only %d bars were compared", bars)
	}
}

// What the checker names as the witness is what is drawn: bars with its times, and their overlap is its overlap.
func TestTheViolationIsTheWitness(t *testing.T) {
	overlaps := 0
	each(t, func(t *testing.T, r *verdict.Result, line *Timeline) {
		f := r.Witness()
		for i := range r.Report.Findings {
			if f == nil && r.Report.Findings[i].Kind.Liveness() {
				f = &r.Report.Findings[i] // drawn where nothing is violated
			}
		}
		if f == nil {
			if line.Violation != nil {
				t.Fatalf("a violation is drawn: %+v", line.Violation)
			}
			return
		}
		v := line.Violation
		if v == nil || v.Kind != string(f.Kind) || v.From != Instant(f.From) || v.To != Instant(f.To) || len(v.Windows) != len(f.Windows) {
			t.Fatalf("%+v is drawn for %+v", v, f)
		}
		if f.Kind != checker.LeaseOverlap {
			return
		}
		overlaps++
		var bars []Span
		for i, w := range f.Windows {
			for _, s := range line.lane(w.Process).all(believedSpan) {
				if s.Grant == w.Grant && s.From == Instant(w.From) && s.To == Instant(w.To) {
					bars = append(bars, s)
				}
			}
			if len(bars) != i+1 {
				t.Fatalf("no bar for %+v", w)
			}
		}
		from, to := bars[0].From, bars[0].To
		for _, s := range bars[1:] {
			from, to = max(from, s.From), min(to, s.To)
		}
		if from != v.From || to != v.To || from >= to {
			t.Errorf("the bars overlap from %d to %d, the violation is from %d to %d", from, to, v.From, v.To)
		}
		if line.Focus.From > v.From || line.Focus.To <= v.From {
			t.Errorf("the violation at %d is out of the focus %+v", v.From, line.Focus)
		}
	})
	if overlaps < 20 {
		t.Errorf("only %d overlaps were compared", overlaps)
	}
}

// In scenario 17, client-1 has a quorum until the moment at which C's clock jumps, and C no longer keeps its key from
// then on: the argument of the picture.
func TestAClockJumpEndsAKeyAndTheQuorum(t *testing.T) {
	r, line := drawn(t, "17-clock-jump")
	var jump Instant
	for _, e := range r.History {
		if e.Name == "clock-step" {
			jump = Instant(e.Time)
		}
	}
	keys := map[string]Span{}
	for _, node := range []string{"A", "B", "C"} {
		keys[node] = line.lane(node).all(keySpan)[0]
		if k := keys[node]; line.Lanes[k.Owner].Name != "client-1" || k.Left <= int64(10*time.Second-time.Millisecond) || k.Left > int64(10*time.Second+time.Millisecond) {
			t.Errorf("%s: %+v", node, k)
		}
	}
	if keys["C"].To != jump || keys["A"].To <= jump || keys["B"].To <= jump {
		t.Errorf("the keys end at %d, %d and %d, the clock jumps at %d", keys["A"].To, keys["B"].To, keys["C"].To, jump)
	}
	granted := slices.DeleteFunc(line.lane("client-1").all(votesSpan), func(s Span) bool { return !s.Quorum })
	last := max(keys["A"].From, keys["B"].From, keys["C"].From) // three of five are a quorum
	if len(granted) != 1 || granted[0].From != last || granted[0].To != jump {
		t.Errorf("granted %+v, want %d to %d", granted, last, jump)
	}
	clocks := line.lane("C").Clocks
	if len(clocks) != 1 || clocks[0].At != jump || clocks[0].Wall != int64(10*time.Second) || clocks[0].Mono != 0 {
		t.Errorf("the clocks of C are %+v", clocks)
	}
	for _, l := range line.Lanes {
		if l.Name != "C" && len(l.Clocks) > 0 {
			t.Errorf("the clocks of %s are %+v", l.Name, l.Clocks)
		}
	}
	lost := 0
	for _, a := range line.Arrows {
		if to := line.Lanes[a.To].Name; a.Fate == lostFate && line.Lanes[a.From].Name == "client-1" {
			lost++
			if to != "D" && to != "E" || a.Ended != a.Sent || a.Why != "a partition" {
				t.Errorf("%+v", a)
			}
		}
	}
	if lost < 2 {
		t.Errorf("%d messages of client-1 are lost, two requests to acquire at least", lost)
	}
}

// A clock that is stepped back gives its keys as much more to live, from that moment on.
func TestAClockStepBackLengthensAKey(t *testing.T) {
	r, line := drawn(t, "19-clock-steps-back/release-lost")
	seen := 0
	for _, e := range r.History {
		if e.Name != "clock-step" {
			continue
		}
		keys := line.lane(e.Node).all(keySpan)
		i := slices.IndexFunc(keys, func(k Span) bool { return k.To == Instant(e.Time) })
		if i < 0 || i+1 == len(keys) {
			continue
		}
		seen++
		before, after := keys[i], keys[i+1]
		if want := before.Left - int64(before.To-before.From) - e.Span; e.Span >= 0 || after.From != before.To || after.Left != want || int64(after.To-after.From) != want || after.Owner != before.Owner {
			t.Errorf("%s: %+v and then %+v, the step is %v", e.Node, before, after, time.Duration(e.Span))
		}
	}
	if seen < 3 {
		t.Errorf("%d keys were on nodes when their clocks were stepped", seen)
	}
}

// A lease that outlives the run is open to its end.
func TestALeaseWithoutAnEnd(t *testing.T) {
	s := scenariotest.Given(t, `timeline:
  - {at: 0s, client: client-1, do: [lock, hold: 5s, unlock]}
  - {at: 1s, client: client-2, do: [lock, unlock]}
duration: 2s
expect: {findings: safe, unavailable: {at-most: 1h}}`)
	line := timelineOf(t, scenariotest.Judged(t, s, scenarios.Options{}))
	for lane, kind := range map[string]SpanKind{"client-1": believedSpan, "client-2": askingSpan} {
		if s := line.lane(lane).all(kind); len(s) != 1 || !s[0].Open || s[0].To != Instant(2*time.Second) || !strings.Contains(s[0].Text, "to the end of the run") {
			t.Errorf("%s: %+v", lane, s)
		}
	}
	if s := line.lane("A").all(keySpan); len(s) != 1 || !s[0].Open || !strings.HasSuffix(s[0].Text, " on") {
		t.Errorf("A: %+v", s)
	}
}

// A pause is a span with its own length, in which the lease ends; the late write is a mark after it.
func TestAPauseIsASpan(t *testing.T) {
	r, line := drawn(t, "32-pause-before-write")
	l := line.lane("client-1")
	paused, believed := l.all(pausedSpan), l.all(believedSpan)
	if len(paused) != 1 || paused[0].To-paused[0].From != Instant(15*time.Second) {
		t.Fatalf("%+v", paused)
	}
	if believed[0].To <= paused[0].From || believed[0].To >= paused[0].To {
		t.Errorf("the lease ends at %d, the pause is %+v", believed[0].To, paused[0])
	}
	w := r.Witness()
	if !slices.ContainsFunc(line.lane("storage").Marks, func(m Mark) bool {
		return m.Kind == acceptedMark && m.At == Instant(w.To) && m.Label == "client-1: write 5"
	}) {
		t.Errorf("the stale write is not among %+v", line.lane("storage").Marks)
	}
	if acting := l.all(actingSpan); len(acting) != 1 || acting[0].From != Instant(w.To) {
		t.Errorf("it acts at %+v", acting)
	}
}

// A node that is killed and comes back: its keys end with it, and it is down for as long as the scenario says.
func TestAnOutageIsASpan(t *testing.T) {
	_, line := drawn(t, "25-restart-delayed")
	l := line.lane("C")
	down := l.all(downSpan)
	if len(down) != 1 || down[0].To-down[0].From != Instant(10100*time.Millisecond) {
		t.Fatalf("%+v", down)
	}
	for _, k := range l.all(keySpan) {
		if k.From < down[0].To && k.To > down[0].From {
			t.Errorf("it keeps %+v while it is down", k)
		}
	}
	// client-1 never releases: its key on A ends when its time to live has run out, by a clock that is right.
	a := line.lane("A").all(keySpan)[0]
	if line.Lanes[a.Owner].Name != "client-1" || int64(a.To-a.From) != a.Left {
		t.Errorf("%+v lives for %d", a, a.To-a.From)
	}
}

// Every message of the recording is an arrow with its times.
func TestMessagesAreArrows(t *testing.T) {
	r, line := drawn(t, "24-restart-at-once/one-of-three")
	messages := recorded(t, r).messages
	if !line.isWhole() || len(line.Arrows) != len(messages) {
		t.Fatalf("%d arrows for %d messages", len(line.Arrows), len(messages))
	}
	for i, m := range messages {
		a := line.Arrows[i]
		if line.Lanes[a.From].Name != m.from || line.Lanes[a.To].Name != m.to || a.Sent != m.sent || a.Fate != fates[m.fate] ||
			m.fate != network.UnderWay && a.Ended != m.ended || line.Lanes[a.client()].Kind != clientLane {
			t.Errorf("%+v is drawn as %+v", m, a)
		}
	}
	// The library's answers are on the replies that brought them.
	if !slices.ContainsFunc(line.Arrows, func(a Arrow) bool {
		return a.What == "acquire reply (held by another)" && line.Lanes[a.From].Name == "A" && line.Lanes[a.To].Name == "client-2"
	}) {
		t.Error("no reply says that A's key is held by another")
	}
}

// Without a recording, as of tier live, there are windows, effects and faults.
func TestWithoutARecording(t *testing.T) {
	r := scenariotest.Judged(t, scenariotest.Named(t, "17-clock-jump"), scenarios.Options{})
	bare, err := build(r, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	_, full := drawn(t, "17-clock-jump")
	for _, name := range r.Scenario.Clients {
		if got, want := bare.lane(name).all(believedSpan), full.lane(name).all(believedSpan); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, with a recording %+v", name, got, want)
		}
	}
	if len(bare.Notes) != 1 || len(bare.Arrows) != 0 || bare.lane("C") == nil || len(bare.lane("C").Marks) != 1 {
		t.Errorf("notes %q, lane C %+v", bare.Notes, bare.lane("C"))
	}
	for _, write := range renderers {
		if err := write(&bytes.Buffer{}, bare); err != nil {
			t.Error(err)
		}
	}
}

// A run that is too long is drawn in part, around its violation if it has one, and says so. The bounds are those of crop.
func TestALongRunIsCropped(t *testing.T) {
	yaml := `nodes: {names: [A, B, C]}
timeline:
  - {at: 0s, client: client-1, do: [lock, write, hold: 5ms, unlock], repeat: %d}
  - {at: 1s, client: client-2, do: [lock, write, unlock], repeat: 3}
duration: 5m
expect: {findings: safe, unavailable: {at-most: 1h}}
`
	r := scenariotest.Judged(t, scenariotest.Given(t, fmt.Sprintf(yaml, 5000)), scenarios.Options{})
	line := timelineOf(t, r)
	spans := 0
	for _, l := range line.Lanes {
		spans += len(l.Spans)
	}
	if len(line.Arrows) > maxArrows || len(line.Story) > maxSteps || spans > maxSpans || len(line.Arrows) < maxArrows/4 {
		t.Errorf("%d arrows, %d sentences, %d spans", len(line.Arrows), len(line.Story), spans)
	}
	if messages := recorded(t, r).messages; len(messages) < 20*maxArrows {
		t.Errorf("only %d messages: not a long run", len(messages))
	}
	if len(line.Notes) != 2 || !strings.Contains(line.Notes[0], "the beginning, from 0.0000s to "+seconds(line.To)) || !strings.Contains(line.Notes[1], fmt.Sprintf("only: %d of ", len(line.Arrows))) {
		t.Errorf("notes %q", line.Notes)
	}
	var b bytes.Buffer
	if err := WriteHTML(&b, line); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3<<20 {
		t.Errorf("the page has %d bytes", b.Len())
	}
}

// Nodes that agree with each other talk all the time: where messages are too many, theirs are left out first, and the
// run is drawn as a whole.
func TestMessagesBetweenNodesAreLeftOutFirst(t *testing.T) {
	r, line := drawn(t, "47-consensus/cut-off-client-until-told")
	between := 0
	messages := recorded(t, r).messages
	for _, m := range messages {
		if !slices.Contains(r.Scenario.Clients, m.from) && !slices.Contains(r.Scenario.Clients, m.to) {
			between++
		}
	}
	if between == 0 || len(messages) <= maxArrows || len(line.Arrows) != len(messages)-between || line.From != 0 || line.Story[0].Number != 1 {
		t.Errorf("%d arrows for %d messages, %d of them between nodes", len(line.Arrows), len(messages), between)
	}
	if len(line.Notes) != 1 || line.Notes[0] != fmt.Sprintf("%d messages between nodes are not drawn.", between) {
		t.Errorf("notes %q", line.Notes)
	}
}

// A violation that lasts longer than anything happens is drawn as a whole.
func TestDrawnToTheEndOfTheViolation(t *testing.T) {
	s := *scenariotest.Named(t, "17-clock-jump")
	r := scenariotest.Judged(t, &s, scenarios.Options{})
	line := timelineOf(t, r)
	last := r.History[len(r.History)-1].Time
	line.Violation.To = Instant(last) * 2
	b := builder{result: r, end: 3 * Instant(last), t: line}
	b.crop()
	if line.To < line.Violation.To || line.To == b.end {
		t.Errorf("the picture ends at %d, and the violation at %d", line.To, line.Violation.To)
	}
}

// A violation late in a long run is what is drawn of it.
func TestCroppedAroundTheViolation(t *testing.T) {
	s := *scenariotest.Named(t, "17-clock-jump")
	r := scenariotest.Judged(t, &s, scenarios.Options{})
	line := timelineOf(t, r)
	v := *line.Violation
	// The same with much before it: a story of ten thousand sentences.
	b := builder{result: r, end: Instant(s.Duration), t: line}
	story := line.Story
	line.Story = nil
	for i := range 10_000 {
		line.Story = append(line.Story, Step{Number: i + 1, At: Instant(i) * 100_000, Text: "something"})
	}
	line.Story = append(line.Story, story...)
	b.crop()
	if line.From == 0 || line.From > v.From || line.To < v.To || len(line.Story) > maxSteps || len(line.Notes) == 0 {
		t.Errorf("from %d to %d with %d sentences, the violation is from %d to %d; %q", line.From, line.To, len(line.Story), v.From, v.To, line.Notes)
	}
	if told := line.Focus.count(slices.Compact(line.steps())); told > focusMoments || told < 4 {
		t.Errorf("the focus has %d moments", told)
	}
}
