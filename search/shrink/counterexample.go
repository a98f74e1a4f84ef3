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
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
)

// errNotConfirmed is what the error of counterexample matches where the tiers do not show the same finding.
var errNotConfirmed = errors.New("shrink: not confirmed on all tiers")

// counterexample is a scenario that shows a finding with the seed, as an ordinary scenario file says it. It is run on all
// tiers, which must show the same history, and verified on each: running the file with the seed is as expected.
//
// The error matches errNotConfirmed if a tier does not show the finding, or another history; any other is an internal one,
// or says what a file cannot say.
func counterexample(s *scenarios.Scenario, seed uint64) (*scenarios.Scenario, error) {
	c, r, err := told(s, seed)
	switch {
	case err != nil:
		return nil, err
	case len(r.Findings) == 0 && len(r.Leaks) == 0:
		return nil, fmt.Errorf("%w: %s, seed %d: nothing is found", errNotConfirmed, s.Name, seed)
	}
	for _, tier := range scenarios.Tiers() {
		switch got, err := verdict.Verify(c, scenarios.Options{Tier: tier, Seed: seed}); {
		case err != nil:
			return nil, err
		case r.HistoryHash != got.HistoryHash:
			return nil, fmt.Errorf("%w: %s, seed %d: %s", errNotConfirmed, s.Name, seed, r.DifferenceOn(got))
		case !got.OK():
			return nil, fmt.Errorf("%w: %s, seed %d, tier %s: %s", errNotConfirmed, s.Name, seed, tier, got.Problems[0].Text)
		}
	}
	return c, nil
}

// compared is a scenario that shows a violation of somebody's program, as a file says it: what it expects is what the library
// shows under the same faults, to which the program is compared.
func compared(v *search.Violation) (*scenarios.Scenario, error) {
	theirs, err := verdict.Judge(v.Scenario, v.Options())
	if err != nil {
		return nil, err
	}
	c, _, err := told(v.Scenario, v.Seed)
	if err != nil {
		return nil, err
	}
	c.Expect.Grants = nil
	what, how := shown(theirs)
	c.Title = fmt.Sprintf("%s of %s", what, v.Foreign.Name)
	c.Explanation = fmt.Sprintf("Of %s: %s What is expected is what a sound Redlock shows under the same faults.\n", v.Foreign.Name, rounded.Text(how))
	c.Recorded = &scenarios.Recorded{Seed: v.Seed, History: history.Hash(theirs.History)}
	_, err = c.Encode()
	return c, err
}

// told is a scenario with what its run with the seed shows: with a title, what happens, and the verdict that it has.
//
// Its claim follows from the budget. A violation by faults that exceed the budget, which excuse it, is a counterexample to a
// protocol that holds within it. A violation within the budget, or one that no fault excuses, refutes that the protocol holds,
// so that the file claims unsound.
func told(s *scenarios.Scenario, seed uint64) (*scenarios.Scenario, *verdict.Result, error) {
	c := *s
	c.Expect, c.Live = scenarios.Expect{}, scenarios.OnLive{}
	r, err := verdict.Judge(&c, scenarios.Options{Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	without := "without any fault"
	var names []string
	for _, item := range c.Timeline {
		if item.Fault != nil && !slices.Contains(names, item.Kind) {
			names = append(names, item.Kind)
			without = "after " + strings.Join(names, ", ")
		}
	}
	what, how := shown(r)
	c.Title = fmt.Sprintf("%s %s", what, without)
	c.Source = "found by search: " + c.Name
	c.Recorded = &scenarios.Recorded{Seed: seed, History: r.HistoryHash}
	c.Claim = scenarios.Holds
	if r.Inexcusable() {
		c.Claim = scenarios.Unsound
	}
	c.Explanation = strings.Join(strings.Fields(rounded.Text(how)+budgeted(r)), " ") + "\n"
	expect(&c, r)
	return &c, r, nil
}

// shown is what a run shows, in a word or two and in a sentence; nothing of one that shows nothing.
func shown(r *verdict.Result) (what, how string) {
	switch f := r.Defect(); {
	case len(r.Findings) == 0:
		return "a key without a time to live", "A key is left without a time to live."
	case f != nil:
		return r.Findings.Says(), f.Text
	}
	return r.Findings.Says(), r.Report.Findings[0].Text
}

// budgeted says in sentences how what a run shows stands to the budget, and what is to blame for what no fault excuses.
func budgeted(r *verdict.Result) (text string) {
	if r.Beyond != nil {
		text = " The faults exceed the budget: " + strings.Join(r.Beyond, "; ") + "."
	}
	if !r.Inexcusable() {
		return text
	}
	blame := "the lock's code is wrong" // which leaves a key without a time to live
	if f := r.Defect(); f != nil {
		blame = settings.Blame(r, f)
	}
	if r.Beyond != nil {
		return text + " That is no excuse; " + blame + "."
	}
	return " The faults are within the budget; " + rounded.Text(blame) + "."
}

// expect has a scenario expect what a run of it shows.
func expect(c *scenarios.Scenario, r *verdict.Result) {
	c.Expect.Findings = r.Findings
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
