package reach_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios/reach"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// told is a history of these events, in this order.
func told(events ...history.Event) history.History { return events }

func call(op int, f history.Func) history.Event {
	return history.Event{Kind: history.Call, Op: op, Func: f, Process: "c"}
}

func step(op int, name, detail string) history.Event {
	return history.Event{Kind: history.Step, Op: op, Name: name, Detail: detail, Node: "A", Resource: "R", Process: "c"}
}

func done(op, grant int, f history.Func) history.Event {
	return history.Event{Kind: history.Return, Op: op, Func: f, Outcome: history.OK, Grant: grant, Process: "c"}
}

func failed(op int, f history.Func, why string) history.Event {
	return history.Event{Kind: history.Return, Op: op, Func: f, Outcome: history.Failed, Detail: why, Process: "c"}
}

// What takes more than one event is reached by those events and not by fewer.
func TestStepsOfSeveralEvents(t *testing.T) {
	acquire, extend, release := call(1, history.Acquire), call(2, history.Extend), call(3, history.Release)
	voted, another := step(1, "node-answered", "granted"), step(1, "node-answered", "held by another")
	for _, test := range []struct {
		name string
		h    history.History
		want bool
	}{
		{"granted-after-retry", told(acquire, step(1, "quorum-lost", "held by another"), step(1, "granted", "")), true},
		{"granted-after-retry", told(acquire, step(1, "granted", "")), false},
		{"granted-after-retry", told(acquire, step(1, "quorum-lost", ""), call(4, history.Acquire), step(4, "granted", "")), false},
		{"split-votes", told(acquire, voted, another, step(1, "quorum-lost", "held by another")), true},
		{"split-votes", told(acquire, another, step(1, "quorum-lost", "held by another")), false},
		{"split-votes", told(acquire, voted, step(1, "attempt-started", ""), another, step(1, "quorum-lost", "held by another")), false},
		{"split-votes", told(acquire, voted, step(1, "quorum-lost", "no quorum of nodes")), false},
		{"refused-by-another", told(acquire, another), true},
		{"refused-by-another", told(acquire, step(1, "denied", ""), another), false},
		{"extend-refused", told(extend, step(2, "node-answered", "not ours any more")), true},
		{"extend-refused", told(release, step(3, "node-answered", "not ours any more")), false},
		{"released-after-loss", told(release, step(3, "node-answered", "not ours any more")), true},
		{"answer-after-the-decision", told(step(0, "node-answered", "granted")), true},
		{"answer-after-the-decision", told(acquire, voted), false},
		{"gave-up-in-flight", told(acquire, step(1, "quorum-lost", "context deadline exceeded")), true},
		{"gave-up-in-flight", told(acquire, step(1, "quorum-lost", "no quorum of nodes")), false},
		{"too-late", told(acquire, step(1, "denied", "quorum came too late, no validity left")), true},
		{"release-not-confirmed", told(release, step(3, "released", "no quorum of nodes")), true},
		{"release-not-confirmed", told(release, step(3, "released", "")), false},
		{"release-unanswered", told(release, step(3, "node-answered", "timed out")), true},
		{"release-unanswered", told(extend, step(2, "node-answered", "timed out")), false},
		{"release-refused", told(release, step(3, "node-answered", "refused")), true},
		{"served-in-the-client", told(acquire, call(4, history.Acquire), done(1, 1, history.Acquire), done(4, 4, history.Acquire)), true},
		{"served-in-the-client", told(acquire, done(1, 1, history.Acquire), call(4, history.Acquire), done(4, 4, history.Acquire)), false},
		{"closed", told(acquire, failed(1, history.Acquire, "not acquired, redlock: client closed")), true},
		{"closed", told(acquire, failed(1, history.Acquire, "not acquired")), false},
		{"released-again", told(release, failed(3, history.Release, "lease released")), true},
		{"guard-refuses", told(acquire, step(1, "node-answered", "in quarantine")), true},
		{"quarantine-over", told(acquire, step(1, "node-answered", "in quarantine"), voted), true},
		{"quarantine-over", told(acquire, voted, step(1, "node-answered", "in quarantine")), false},
		{"vote-behind", told(acquire, step(1, "node-answered", "ahead of the token")), true},
		{"renewed", told(extend, done(2, 1, history.Extend), call(5, history.Extend), done(5, 1, history.Extend)), true},
		{"renewed", told(extend, done(2, 1, history.Extend), call(5, history.Extend), done(5, 4, history.Extend)), false},
		{"renewal-failed", told(extend, done(2, 1, history.Extend), call(5, history.Extend), step(5, "not-extended", "")), true},
		{"renewal-failed", told(extend, step(2, "not-extended", "")), false},
		{"token-granted", told(acquire, history.Event{Kind: history.Return, Op: 1, Func: history.Acquire, Outcome: history.OK, Token: 7}), true},
		{"token-granted", told(acquire, done(1, 0, history.Acquire)), false},
		{"effect-refused", told(history.Event{Kind: history.Effect, Outcome: history.Failed, Token: 7}), true},
		{"several-granted", told(acquire, history.Event{Kind: history.Step, Op: 1, Name: "granted", Resource: "a, b"}), true},
		{"several-granted", told(acquire, step(1, "granted", "")), false},
	} {
		i := reach.Place(reach.Step, test.name)
		if i < 0 {
			t.Errorf("there is no step %s", test.name)
			continue
		}
		if got := reach.Of(&reach.Run{History: test.h}).Has(i); got != test.want {
			t.Errorf("%s by %v: %v", test.name, test.h, got)
		}
	}
}

// everything is a run that reached what no history tells of.
var everything = reach.Run{
	Counts: redis.Counts{Batches: 1, UnknownScripts: 1, Notified: 1, Unheard: 1},
	Used:   faults.Used{Lost: []faults.Loss{{Node: "A", Counters: true}}},
	Report: &checker.Report{Compared: checker.Compared{Holds: 1, Updates: 1}},
	Placed: []string{"kill", "pause"}, Injected: []string{"kill"}, Awaited: []string{"granted", "restart"}, Fired: []string{"granted"},
}

func TestOf(t *testing.T) {
	set, none := reach.Of(&everything), reach.Of(&reach.Run{})
	for i, e := range reach.Table() {
		if none.Has(i) {
			t.Errorf("a run without anything reaches the %s %s", e.Kind, e.Name)
		}
	}
	for _, want := range []struct {
		kind reach.Kind
		name string
		is   bool
	}{
		{reach.Step, "batch-shared", true}, {reach.Step, "unknown-script", true}, {reach.Step, "wake-up-received", true}, {reach.Step, "wake-up-lost", true},
		{reach.Step, "memory-lost", true}, {reach.Step, "counter-lost", true}, {reach.Fault, "kill", true}, {reach.Fault, "pause", false},
		{reach.Trigger, "granted", true}, {reach.Trigger, "restart", false}, {reach.Rule, "holds", true}, {reach.Rule, "updates", true}, {reach.Rule, "tokens-of-grants", false},
		{reach.Effect, "kill", false},
	} {
		if got := set.Has(reach.Place(want.kind, want.name)); got != want.is {
			t.Errorf("the %s %s is reached: %v", want.kind, want.name, got)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range reach.Table() {
		key := string(e.Kind) + " " + e.Name
		if seen[key] || e.What == "" || !slices.Contains(reach.Kinds(), e.Kind) {
			t.Errorf("%s is there twice, or says nothing: %+v", key, e)
		}
		seen[key] = true
	}
	for _, w := range faults.Vocabulary() {
		if !seen["fault "+w.Name] || !seen["effect "+w.Name] {
			t.Errorf("the fault %s is not in the table", w.Name)
		}
	}
}

// reached counts two runs, of everything and of nothing, and an effect.
func reached() (everythingAlone, nothing, sum reach.Counts) {
	everythingAlone.Add(reach.Of(&everything), &everything)
	nothing.Add(reach.Of(&reach.Run{}), &reach.Run{})
	nothing.AddEffect("kill")
	sum.Merge(everythingAlone)
	sum.Merge(nothing)
	return everythingAlone, nothing, sum
}

// Counts add up, in any order, and a clone is a copy.
func TestCounts(t *testing.T) {
	a, b, sum := reached()
	var other reach.Counts
	other.Merge(b)
	other.Merge(a)
	if sum.Runs != 2 || !reflect.DeepEqual(sum, other) || sum.Reached(reach.Fault, "kill") != 1 || sum.Reached(reach.Effect, "kill") != 1 {
		t.Errorf("%+v and %+v", sum, other)
	}
	before := a.Clone()
	a.AddEffect("pause")
	if before.Reached(reach.Effect, "pause") != 0 {
		t.Error("a clone changes")
	}
}

// Counts come back from JSON as they were, also those of runs without the library.
func TestCountsInJSON(t *testing.T) {
	_, _, sum := reached()
	foreign := sum.Clone()
	foreign.Add(reach.Of(&reach.Run{}), &reach.Run{Other: true})
	for _, counts := range []reach.Counts{sum, foreign} {
		data, err := json.Marshal(counts)
		if err != nil {
			t.Fatal(err)
		}
		var read reach.Counts
		if err := json.Unmarshal(data, &read); err != nil || !reflect.DeepEqual(read, counts) {
			t.Errorf("%v, %+v", err, read)
		}
	}
	var read reach.Counts
	if err := json.Unmarshal([]byte(`{"entries":[{"kind":"step","name":"no such"}]}`), &read); err == nil {
		t.Error("an entry that is not in the table is read")
	}
}

// What is never reached is told, of faults and moments what was placed, of steps those of the library and of the features.
func TestNever(t *testing.T) {
	_, _, sum := reached()
	names := func(all []reach.Entry) (names []string) {
		for _, e := range all {
			names = append(names, e.Name)
		}
		return names
	}
	if got := names(sum.Never(reach.Fault, nil)); !slices.Equal(got, []string{"pause"}) {
		t.Errorf("faults that were never injected: %v", got)
	}
	var foreign reach.Counts
	foreign.Add(reach.Of(&reach.Run{}), &reach.Run{Other: true})
	if got := names(foreign.Never(reach.Step, nil)); got != nil {
		t.Errorf("steps of the library that another protocol never reached: %v", got)
	}
	foreign.Add(reach.Of(&reach.Run{}), &reach.Run{})
	if got := names(foreign.Never(reach.Step, nil)); !slices.Contains(got, "granted") {
		t.Errorf("steps that a run of the library never reached: %v", got)
	}
	if got := names(sum.Never(reach.Trigger, nil)); !slices.Equal(got, []string{"restart"}) {
		t.Errorf("moments that never came: %v", got)
	}
	if got := names(sum.Never(reach.Step, nil)); slices.Contains(got, "token-raised") || !slices.Contains(got, "granted") {
		t.Errorf("steps that were never reached, without a feature: %v", got)
	}
	if got := names(sum.Never(reach.Step, []reach.Feature{reach.Fencing})); !slices.Contains(got, "token-raised") || slices.Contains(got, "counter-lost") {
		t.Errorf("with fencing: %v", got)
	}
	on := []reach.Feature{reach.Fencing, reach.WakeUp, reach.Batching, reach.Guard}
	if got := sum.Unused(on); !slices.Equal(got, []reach.Feature{reach.Fencing, reach.Guard}) {
		t.Errorf("unused: %v", got)
	}
}
