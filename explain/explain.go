// Package explain finds out what would have prevented a violation. It changes one thing at a time, a setting, what the
// clients do or how long a node stays down, and runs the scenario again to see whether the lock still breaks.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// Options say how to look. The zero value is seed 0 and no confirmation by other seeds.
type Options struct {
	// Seed is that of the run which is explained.
	Seed uint64
	// Confirm is how many further seeds a change must hold for.
	Confirm int
	// Progress, if not nil, is called with how many of all changes have been tried and then, if no single one prevents the
	// violation, with the progress of trying two at a time.
	Progress func(done, all int)
}

// Explanation is what was found out.
type Explanation struct {
	// Result is the run that is explained, on tier model.
	Result *scenarios.Result
	// Wrong is what is wrong in it, in words: a violation of mutual exclusion, keys that are left behind, or a lock that nobody
	// can get. If it is empty, nothing is tried.
	Wrong string
	Rules []Rule
	// Tried are the changes that made a difference, those that prevent it first. Without is how many made none: the run was the
	// same to the last event.
	Tried   []Tried
	Without int
}

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
	Keys []Key
	// Grants and Unavailable are those of the run with the seed.
	Grants      int
	Unavailable time.Duration
	// Runs is in how many runs it was seen.
	Runs int

	same bool // the run with the seed is that without the change
}

// Of explains a scenario. The error is an internal one, or that of the context.
func Of(ctx context.Context, s *scenarios.Scenario, o Options) (*Explanation, error) {
	r, err := scenarios.Judge(s, scenarios.Options{Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	x := &Explanation{Result: r, Wrong: wrong(r)}
	if x.Rules, err = rules(r); err != nil || x.Wrong == "" {
		return x, err
	}
	base, err := document(s)
	if err != nil {
		return nil, err
	}
	single, different := changes(s), []Change(nil)
	for i, c := range single {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := x.try(base, c, o)
		if err != nil {
			return nil, err
		}
		switch {
		case t == nil:
		case t.same:
			x.Without++
		default:
			x.Tried = append(x.Tried, *t)
			different = append(different, c)
		}
		if o.Progress != nil {
			o.Progress(i+1, len(single))
		}
	}
	if !slices.ContainsFunc(x.Tried, func(t Tried) bool { return t.Status == Prevents }) {
		if err := x.tryPairs(ctx, base, different, o); err != nil {
			return nil, err
		}
	}
	x.Tried = steepest(x.Tried)
	slices.SortStableFunc(x.Tried, func(a, b Tried) int { return cmp.Compare(a.Status, b.Status) })
	return x, nil
}

// maxPairs is how many pairs of changes that prevent it to find if no single one does.
const maxPairs = 3

// tryPairs tries two changes of different kinds together, of those that made a difference alone.
func (x *Explanation) tryPairs(ctx context.Context, base *file, different []Change, o Options) error {
	found := 0
	for i, a := range different {
		if o.Progress != nil {
			o.Progress(i, len(different))
		}
		for _, b := range different[i+1:] {
			pair := both(a, b)
			if a.Kind == b.Kind || slices.ContainsFunc(x.Tried, func(t Tried) bool { return t.Kind == pair.Kind && t.Status == Prevents }) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := x.try(base, pair, o)
			if err != nil {
				return err
			}
			if t == nil || t.Status != Prevents {
				continue
			}
			x.Tried = append(x.Tried, *t)
			if found++; found == maxPairs {
				return nil
			}
		}
	}
	return nil
}

// steepest keeps of each ladder only the first rung that prevents it, or else the last one.
func steepest(all []Tried) []Tried {
	var kept []Tried
	for i, t := range all {
		if t.Ladder && t.Status != Prevents && i+1 < len(all) && all[i+1].Kind == t.Kind {
			continue
		}
		if t.Ladder && len(kept) > 0 && kept[len(kept)-1].Kind == t.Kind && kept[len(kept)-1].Status == Prevents {
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// wrong says what is wrong in a run.
func wrong(r *scenarios.Result) string {
	switch {
	case r.Witness() != nil:
		return string(r.Witness().Kind)
	case len(r.Leaks) > 0:
		return "lock key that never expires"
	case r.Unbounded:
		return "unavailability without bound"
	}
	return ""
}

// try makes the runs with a change. It returns nil if the change gives no valid scenario, or the same one.
func (x *Explanation) try(base *file, c Change, o Options) (*Tried, error) {
	changed, keys, err := base.with(c)
	if changed == nil {
		if wrong := (strictyaml.Errors)(nil); c.Kind == library && errors.As(err, &wrong) {
			return &Tried{Change: c, Status: Moot, Why: fmt.Sprintf("%s: %s %q", wrong[0].Path, wrong[0].Msg, wrong[0].Word)}, nil
		}
		return nil, nil // settings that do not go together
	}
	t, first, err := x.runs(changed, c, o)
	if err != nil {
		return nil, err
	}
	t.Keys = keys
	if t.Status != Moot || len(first.Left) == 0 {
		return t, nil
	}
	// Items that waited for a call to succeed can wait for it to fail instead.
	otherwise, keys, _ := base.with(both(c, otherEnd(first.Left))) // the error is that there is no such event
	if otherwise == nil {
		return t, nil
	}
	again, _, err := x.runs(otherwise, c, o)
	if err != nil || again.Status != Prevents {
		return t, err
	}
	again.Keys = keys
	return again, nil
}

// runs makes the runs of a changed scenario until one of them shows that the change does not prevent what went wrong. It also
// returns the first run.
func (x *Explanation) runs(changed *scenarios.Scenario, c Change, o Options) (*Tried, *scenarios.Result, error) {
	t := &Tried{Change: c, Status: Prevents}
	var results []*scenarios.Result
	for _, run := range runs(o) {
		r, err := scenarios.Judge(changed, run)
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
	t.Scenario, err = settled(changed, results, o)
	if err == nil && t.Scenario == nil {
		t.Status, t.Why = Moot, "a scenario file cannot expect what comes of it"
	}
	return t, results[0], err
}

// gone says which findings of the run that is explained a run does not have, where it has others.
func (x *Explanation) gone(r *scenarios.Result) string {
	text := ""
	for _, kind := range x.Result.Findings {
		if kind.Violation() && !slices.Contains(r.Findings, kind) {
			text += ", but no longer " + string(kind)
		}
	}
	return text
}

// runs are the runs in which a change must hold: the one that is explained, further seeds, and the other tier.
func runs(o Options) []scenarios.Options {
	all := []scenarios.Options{{Tier: scenarios.Model, Seed: o.Seed}}
	for n := range o.Confirm {
		all = append(all, scenarios.Options{Tier: scenarios.Model, Seed: o.Seed + 1 + uint64(n)})
	}
	return append(all, scenarios.Options{Tier: scenarios.Wire, Seed: o.Seed})
}

// missing says what the scenario is about that no longer happens in a run; empty if all of it does.
func (x *Explanation) missing(r *scenarios.Result) string {
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
func (x *Explanation) refused(r *scenarios.Result) string {
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
func settled(s *scenarios.Scenario, results []*scenarios.Result, o Options) (*scenarios.Scenario, error) {
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
	r, err := scenarios.Judge(&done, scenarios.Options{Seed: o.Seed})
	if err != nil || !r.OK() {
		return nil, err
	}
	return &done, nil
}

var errNoDocument = errors.New("explain: the scenario cannot be written as a file")

// Rule is a rule of the checker, and why it does or does not hold in the run.
type Rule struct {
	Kind checker.Kind
	// Finding is where it is broken; nil if it holds.
	Finding *checker.Finding
	// Why is one sentence.
	Why string
}
