package scenarios

import (
	"math"
	"slices"

	"redlocksim/checker"
)

// Live is the tier of redis-server processes. It is not one of Tiers: its runs are made by package live, take real time,
// and do not repeat themselves.
const Live Tier = "live"

// JudgeLive judges a run on tier live. What a scenario expects of durations and of how often somebody waits or tries is
// left out: there, these depend on the machine. So is what only monitors find, who cannot look into real servers.
func JudgeLive(s *Scenario, out *Outcome) (*Result, error) {
	comparable := *s
	e := &comparable.Expect
	e.Unavailable = Unavailable{Bounds: Bounds{AtMost: math.MaxInt64}}
	e.Takeover, e.Attempts, e.Bypass, e.Overtakes, e.AfterHealing = nil, nil, nil, nil, nil
	e.Findings = slices.DeleteFunc(slices.Clone(e.Findings), checker.Kind.Monitored)
	r, err := judge(&comparable, Options{Tier: Live}, out)
	if r != nil {
		r.Scenario = s
	}
	return r, err
}

// SetNotTested says of a run on tier live why it shows nothing, in place of what was not as expected: it was another scenario.
func (r *Result) SetNotTested(why string) {
	if len(r.Problems) > 0 {
		why += "; it came to: " + r.Problems[0].Text
	}
	r.NotTested, r.Findings = []string{why}, nil
	r.Problems = []Problem{{NotTested, "not tested: " + why}}
}
