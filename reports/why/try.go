package why

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/remedies"
	"redlocksim/sim/history"
)

// Status is the result of a change.
type Status uint8

const (
	// Prevents: what was wrong no longer happens, with any seed and on both tiers.
	Prevents Status = iota + 1
	// Moot: it no longer happens, but neither does what the scenario is about.
	Moot
	// Fails: it still happens.
	Fails
)

// Tried is a change and its result.
type Tried struct {
	Change
	Status Status
	// Why says more: what still happens, or what does not.
	Why string
	// Scenario is the changed scenario, which expects what it shows; nil unless Status is Prevents.
	Scenario *scenarios.Scenario
	// Keys are what is different in its file.
	Keys []variant.Change
	// Grants and Unavailable are those of the run with the seed.
	Grants      int
	Unavailable time.Duration
	// Runs is in how many runs it was seen.
	Runs int

	same bool // the run with the seed is that without the change
}

// wrong says what is wrong in a run.
func wrong(r *verdict.Result) string {
	switch {
	case r.Witness() != nil:
		return r.Witness().Kind.Says()
	case r.Defect() != nil:
		return r.Defect().Kind.Says()
	case len(r.Leaks) > 0:
		return "a lock key that never expires"
	case r.Unbounded:
		return "unavailability without bound"
	}
	return ""
}

// What says it in words, and where it helps what else there is to say.
func (t *Tried) What() string {
	if t.Status != Prevents {
		return t.Change.What()
	}
	return t.Change.What() + t.More
}

// try makes the runs with a change, with the least value that prevents what went wrong, or else the largest. It returns nil if
// the change gives no valid scenario, or the same one.
func (x *Explanation) try(base variant.File, c Change, o Options) (*Tried, error) {
	runs := x.confirmations(o)
	if c.From != nil {
		scale := c.Scale(x.lock(), now(x.Result.Scenario, base, &c))
		if scale.Step.IsNegative() { // it is more already than what would be tried
			return nil, nil
		}
		value, err := x.least(base, c, scale, runs)
		if err != nil {
			return nil, err
		}
		if c.Value = value; value == "" {
			c.Value = scale.At(scale.Last).Word
		}
	}
	changed, file, err := x.of(base, &c)
	if wrong := (*strictyaml.Error)(nil); changed == nil && c.Name == library && errors.As(err, &wrong) {
		return &Tried{Change: c, Status: Moot, Why: fmt.Sprintf("%s: %s %q", wrong.File, wrong.Msg, wrong.Word)}, nil
	}
	key := c.Name + "\n" + file.Text
	if changed == nil || slices.Contains(x.files, key) {
		return nil, nil // settings that do not go together, or another word for the same
	}
	x.files = append(x.files, key)
	return x.attempt(base, c, runs)
}

// least is the least value of a change that prevents what went wrong; empty if none does. It is looked for in the run that is
// explained, and from there on in all runs.
func (x *Explanation) least(base variant.File, c Change, scale variant.Scale, runs []scenarios.Options) (string, error) {
	prevents := func(in []scenarios.Options) func(string) (bool, error) {
		return func(value string) (bool, error) {
			c.Value = value
			t, err := x.attempt(base, c, in)
			return t != nil && t.Status == Prevents, err
		}
	}
	guess, err := remedies.Least(scale, "", prevents(runs[:1]))
	if guess == "" || err != nil {
		return "", err
	}
	return remedies.Least(scale, guess, prevents(runs))
}

// attempt makes the runs with a change as it is; nil if there can be none.
func (x *Explanation) attempt(base variant.File, c Change, runs []scenarios.Options) (*Tried, error) {
	changed, file, _ := x.of(base, &c) // the error is that of settings that do not go together
	if changed == nil {
		return nil, nil
	}
	t, first, err := x.runs(changed, c, runs)
	if err != nil {
		return nil, err
	}
	t.Keys = variant.Changes(base, file)
	if t.Status != Moot || len(first.Left) == 0 {
		return t, nil
	}
	// Items that waited for a call to succeed can wait for it to fail instead.
	other := c.atOtherEnd(first.Left)
	otherwise, file, _ := x.of(base, &other) // the error is that there is no such event
	if otherwise == nil {
		return t, nil
	}
	again, _, err := x.runs(otherwise, c, runs)
	if err != nil || again.Status != Prevents {
		return t, err
	}
	again.Keys = variant.Changes(base, file)
	return again, nil
}

// runs makes the runs of a changed scenario until one of them shows that the change does not prevent what went wrong. It also
// returns the first run.
func (x *Explanation) runs(changed *scenarios.Scenario, c Change, runs []scenarios.Options) (*Tried, *verdict.Result, error) {
	changed.Name = x.Result.Scenario.Name
	t := &Tried{Change: c, Status: Prevents}
	var results []*verdict.Result
	for _, run := range runs {
		r, err := verdict.Judge(changed, run)
		if err != nil {
			return nil, nil, err
		}
		t.Runs++
		still, isFirst := wrong(r), len(results) == 0
		results = append(results, r)
		if isFirst {
			t.Grants, t.Unavailable = r.Report.Grants, r.Unavailable
			t.same = r.HistoryHash == x.Result.HistoryHash
		}
		switch {
		case still != "":
			t.Status, t.Why = Fails, "still "+still+x.gone(r)
			if !isFirst {
				t.Why += fmt.Sprintf(", with seed %d on tier %s", run.Seed, r.Tier)
			}
			return t, results[0], nil
		case isFirst && x.missing(r) != "":
			t.Status, t.Why = Moot, x.missing(r)
			return t, r, nil
		case isFirst:
			t.Why = x.refused(r)
		}
	}
	var err error
	t.Scenario, err = settled(changed, results)
	if err == nil && t.Scenario == nil {
		t.Status, t.Why = Moot, "a scenario file cannot expect what comes of it"
	}
	return t, results[0], err
}

// gone says which findings of the run that is explained a run does not have, where it has others.
func (x *Explanation) gone(r *verdict.Result) string {
	text := ""
	for _, kind := range x.Result.Findings {
		if kind.Violation() && !slices.Contains(r.Findings, kind) {
			text += ", but no longer " + kind.Says()
		}
	}
	return text
}

// confirmations are the runs in which a change must hold: the one that is explained, further seeds, and the other tier.
func (x *Explanation) confirmations(o Options) []scenarios.Options {
	seed := x.Result.Seed
	all := []scenarios.Options{{Tier: scenarios.Model, Seed: seed}}
	for n := range o.Confirm {
		all = append(all, scenarios.Options{Tier: scenarios.Model, Seed: seed + 1 + uint64(n)})
	}
	return append(all, scenarios.Options{Tier: scenarios.Wire, Seed: seed})
}

// missing says what the scenario is about that no longer happens in a run; empty if all of it does.
func (x *Explanation) missing(r *verdict.Result) string {
	before := x.Result
	if left := append(slices.Clone(r.NotInjected), r.Idle...); len(left) > len(before.NotInjected)+len(before.Idle) {
		return left[0]
	}
	if r.Report.Grants == 0 {
		return "nobody is granted the lock"
	}
	for _, client := range before.Scenario.Clients {
		if asked := func(e *history.Event) bool {
			return e.Process == client && e.Kind == history.Call && e.Func == history.Acquire
		}; number(before.History, asked) > 0 && number(r.History, asked) == 0 {
			return client + " never asks for the lock"
		}
	}
	if taken := func(e *history.Event) bool { return isWrite(e) && e.Outcome == history.OK }; number(before.History, taken) > 0 && number(r.History, taken) == 0 {
		return "the resource takes no write at all"
	}
	return ""
}

// refused says which clients are not granted the lock any more.
func (x *Explanation) refused(r *verdict.Result) string {
	var names []string
	for _, client := range x.Result.Scenario.Clients {
		if grants(x.Result.History, client) > 0 && grants(r.History, client) == 0 {
			names = append(names, client)
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, " and ") + " can no longer get the lock"
}

// settled is the scenario with what its runs show as expectations; nil if it still does not meet them.
func settled(s *scenarios.Scenario, results []*verdict.Result) (*scenarios.Scenario, error) {
	unavailable := time.Duration(0)
	for _, r := range results {
		unavailable = max(unavailable, r.Unavailable)
	}
	done := *s
	done.Claim = scenarios.Holds
	done.Expect = scenarios.Expect{Findings: results[0].Findings, Unavailable: s.Expect.Unavailable}
	if !results[0].Unbounded {
		done.Expect.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: (unavailable/time.Second + 1) * time.Second}}
	}
	done.Recorded = nil
	r, err := verdict.Judge(&done, scenarios.Options{Seed: results[0].Seed})
	if err != nil || !r.OK() {
		return nil, err
	}
	return &done, nil
}

// grants is how often a client is granted the lock.
func grants(h history.History, client string) int {
	return number(h, func(e *history.Event) bool {
		return e.Process == client && e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	})
}

// number is how many events of a history are so.
func number(h history.History, is func(*history.Event) bool) int {
	n := 0
	for i := range h {
		if is(&h[i]) {
			n++
		}
	}
	return n
}

func isWrite(e *history.Event) bool { return e.Kind == history.Effect && e.Func == history.Write }
