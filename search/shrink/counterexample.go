package shrink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// errNotConfirmed is what the error of Counterexample matches where the tiers do not show the same finding.
var errNotConfirmed = errors.New("shrink: not confirmed on all tiers")

// counterexample is a scenario that shows a finding with the seed, as an ordinary scenario file says it: with
// a title, what happens, and the verdict that it has. It is run on all tiers, which must show the same history, and
// verified on each: running the file with the seed is as expected.
//
// Its claim follows from the budget. A violation by faults that exceed the budget, which excuse it, is a counterexample to a
// protocol that holds within it. A violation within the budget, or one that no fault excuses, refutes that the protocol holds,
// so that the file claims unsound.
//
// The error matches errNotConfirmed if a tier does not show the finding, or another history; any other is an internal one,
// or says what a file cannot say.
func counterexample(s *scenarios.Scenario, seed uint64) (*scenarios.Scenario, error) {
	c := *s
	c.Expect, c.Live = scenarios.Expect{}, scenarios.OnLive{}
	var r *scenarios.Result
	for _, tier := range scenarios.Tiers() {
		got, err := scenarios.Judge(&c, scenarios.Options{Tier: tier, Seed: seed})
		switch {
		case err != nil:
			return nil, err
		case len(got.Findings) == 0 && len(got.Leaks) == 0:
			return nil, fmt.Errorf("%w: %s, seed %d: tier %s finds nothing", errNotConfirmed, s.Name, seed, tier)
		case r != nil && r.HistoryHash != got.HistoryHash:
			return nil, fmt.Errorf("%w: %s, seed %d: %s", errNotConfirmed, s.Name, seed, r.DifferenceOn(got))
		case r == nil:
			r = got
		}
	}
	say(&c, r)
	if _, err := c.Encode(); err != nil {
		return nil, err
	}
	for _, tier := range scenarios.Tiers() {
		got, err := scenarios.Verify(&c, scenarios.Options{Tier: tier, Seed: seed})
		if err != nil {
			return nil, err
		}
		if !got.OK() {
			return nil, fmt.Errorf("%w: %s, seed %d, tier %s: %s", errNotConfirmed, s.Name, seed, tier, got.Problems[0].Text)
		}
	}
	return &c, nil
}

// shown is what a run shows, in a word or two and in a sentence.
func shown(r *scenarios.Result) (what, how string) {
	switch f := r.Defect(); {
	case len(r.Findings) == 0:
		return "a key without a time to live", "A key is left without a time to live."
	case f != nil:
		return r.Findings.Says(), f.Text
	}
	return r.Findings.Says(), r.Report.Own()[0].Text
}

// blame says what is to blame for what a run shows that no fault excuses.
func blame(r *scenarios.Result) string {
	if f := r.Defect(); f != nil {
		return settings.Blame(r, f)
	}
	return "the lock's code is wrong" // which leaves a key without a time to live
}

// say writes what a run showed into its scenario.
func say(c *scenarios.Scenario, r *scenarios.Result) {
	var names []string
	for _, item := range c.Timeline {
		if item.Fault != nil && !slices.Contains(names, item.Kind) {
			names = append(names, item.Kind)
		}
	}
	without := "without any fault"
	if names != nil {
		without = "after " + strings.Join(names, ", ")
	}
	c.Expect.Findings = r.Findings
	what, how := shown(r)
	c.Title = fmt.Sprintf("%s %s", what, without)
	c.Source = "found by search: " + c.Name
	c.Explanation = rounded.Text(how)
	c.Recorded = &scenarios.Recorded{Seed: r.Seed, History: r.HistoryHash}
	c.Claim = scenarios.Holds
	if r.Beyond != nil {
		c.Explanation += " The faults exceed the budget: " + strings.Join(r.Beyond, "; ") + "."
	}
	switch {
	case !r.Inexcusable():
	case r.Beyond != nil:
		c.Claim = scenarios.Unsound
		c.Explanation += " That is no excuse; " + blame(r) + "."
	default:
		c.Claim = scenarios.Unsound
		c.Explanation += " The faults are within the budget; " + rounded.Text(blame(r)) + "."
	}
	c.Explanation = strings.Join(strings.Fields(c.Explanation), " ") + "\n"
	c.Expect.Unavailable.AtMost = max(time.Duration(up(max(1, int64(r.Unavailable)), 1)), time.Millisecond)
	for _, name := range c.Clients {
		granted := 0
		for i := range r.History {
			if e := &r.History[i]; e.Process == name && faults.EventName(e) == "acquire-done" {
				granted++
			}
		}
		c.Expect.Grants = append(c.Expect.Grants, strictyaml.Entry[int]{Key: name, Value: granted})
	}
	for _, leak := range r.Leaks {
		if !slices.Contains(c.Expect.Leaks, leak.Key) {
			c.Expect.Leaks = append(c.Expect.Leaks, leak.Key)
		}
	}
}
