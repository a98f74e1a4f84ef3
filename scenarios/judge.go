package scenarios

import (
	"slices"

	"redlocksim/checker"
)

// Judge runs a scenario once, and for twice its duration where it is to be unavailable without bound, and judges the run.
// The error is a [*RunError], also of what panics while the run is judged.
func Judge(s *Scenario, o Options) (result *Result, err error) {
	o.Tier = o.tier()
	defer s.recovered(o, &err)
	out, err := Run(s, o)
	if err != nil {
		return nil, err
	}
	if o.Tier == Program {
		return judgeBeside(s, s, o, out)
	}
	return judge(s, &s.Expect, o, out)
}

// judgeBeside judges a run of somebody's lock beside one of Redlock in the simulator; seen is the scenario with what can be
// seen.
func judgeBeside(s, seen *Scenario, o Options, out *Outcome) (*Result, error) {
	sound, err := Judge(s, Options{Seed: o.Seed, Unhashed: true, Unwatched: true})
	if err != nil {
		return nil, err
	}
	r, err := judgeForeign(seen, o, out)
	if err != nil {
		return nil, err
	}
	r.Scenario = s
	r.compareAvailability(sound.Unavailable)
	return r, nil
}

// JudgeLive judges a run on tier live, of the scenario's lock or of somebody's program. What a scenario expects of durations
// and of how often somebody waits or tries is left out: there, these depend on the machine. So is what only monitors find,
// who cannot look into real servers; that a program waits busily is found there, too, and graded. The error is as of Judge.
func JudgeLive(s *Scenario, out *Outcome, foreign *Foreign) (r *Result, err error) {
	defer s.recovered(Options{Tier: Live}, &err)
	seen := *s
	e := &seen.Expect
	e.Findings = slices.DeleteFunc(slices.Clone(e.Findings), checker.Kind.Monitored)
	if foreign != nil {
		return judgeBeside(s, &seen, Options{Tier: Live, Foreign: foreign}, out)
	}
	e.forgetHaste()
	if len(e.Findings) < len(s.Expect.Findings) && (!slices.ContainsFunc(e.Findings, checker.Kind.Violation) || s.Budget.Beyond(out.Used) != nil) {
		seen.Claim = Holds // as far as anything shows there
	}
	r, err = judge(&seen, &seen.Expect, Options{Tier: Live}, out)
	if r != nil {
		r.Scenario = s
	}
	return r, err
}

// SetDisturbed says of a run on tier live how the machine held it up, in place of what was not as expected: it shows nothing.
func (r *Result) SetDisturbed(why string) {
	r.Disturbed = true
	if len(r.Problems) > 0 {
		why += "; it came to: " + r.Problems[0].Text
	}
	r.NotTested, r.Findings, r.Longer = []string{why}, nil, 0
	r.Problems = []Problem{{NotTested, "not tested: " + why}}
}
