package attacks

import (
	"strings"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// Outcome is the result of an attack.
type Outcome struct {
	Broken Broken
	// NotTested is why the attack did not take place; empty if it did, or if it broke the lock.
	NotTested string
	// Result is the run that decided, and Runs are all runs, including it. There are none if the lock cannot do what the attack
	// has the clients do.
	Result *verdict.Result
	Runs   []*verdict.Result
}

// Broken is what an attack broke, as files have it: kinds of violations, or what else; empty if the lock held.
type Broken string

// Says is that for people.
func (b Broken) Says() string {
	if b == "" {
		return string(checker.Holds)
	}
	var kinds scenarios.Findings
	var rest []string
	for part := range strings.SplitSeq(string(b), ", ") {
		if k := checker.Kind(part); k.Word() != "" {
			kinds = append(kinds, k)
		} else {
			rest = append(rest, part)
		}
	}
	if kinds != nil {
		rest = append([]string{kinds.Says()}, rest...)
	}
	return strings.Join(rest, ", ")
}

// Run makes the attack. If several resources can be locked as one, it attacks the first of them and, if that holds, all as one
// lock. The error is an internal one.
func (a Attack) Run(s *Settings, o scenarios.Options) (Outcome, error) {
	out, err := a.run(s, o)
	if err != nil || s.Joint || !s.CanJoin() || a.whole || out.Broken != "" {
		return out, err
	}
	joint := *s
	joint.Joint = true
	other, err := a.run(&joint, o)
	if err != nil {
		return out, err
	}
	other.Runs = append(out.Runs, other.Runs...)
	switch {
	case other.Broken != "":
		other.Broken += jointly
		return other, nil
	case other.NotTested != "":
		other.NotTested += jointly
		return other, nil
	}
	out.Runs = other.Runs
	return out, nil
}

// jointly says that an attack was on all resources as one lock.
const jointly = ", of all resources as one lock"

// run makes the attack on what the settings say.
func (a Attack) run(s *Settings, o scenarios.Options) (Outcome, error) {
	out := Outcome{}
	var runs []*verdict.Result
	var reasons []string
	for _, scenario := range a.build(against(s, o)) {
		if why := unable(scenario, o); why != nil {
			reasons = append(reasons, why.Error())
			continue
		}
		r, err := verdict.Judge(scenario, o)
		if err != nil {
			return out, err
		}
		runs = append(runs, r)
		this := Outcome{Broken: a.what(r), NotTested: first(a.missed(r)), Result: r}
		switch {
		case this.Broken != "":
			this.NotTested, this.Runs = "", runs
			return this, nil
		case this.NotTested != "":
			reasons = append(reasons, this.NotTested)
		}
		if out.Result == nil || out.NotTested != "" && this.NotTested == "" {
			out = this
		}
	}
	if out.Result == nil || out.NotTested != "" {
		out.NotTested = reasons[0]
	}
	out.Runs = runs
	return out, nil
}

// against are the settings as an attack on the lock of these options has them.
func against(s *Settings, o scenarios.Options) *Settings {
	on := *s
	on.options = o
	return &on
}

// unable is why somebody's lock cannot do what an attack has the clients do; nil if it can.
func unable(s *scenarios.Scenario, o scenarios.Options) error {
	if o.Foreign == nil || o.Foreign.Unable == nil {
		return nil
	}
	return o.Foreign.Unable(s)
}

// Place gives the attack as a scenario to keep: the sharpest way to place it in which it takes place with these options.
// Some locks are only granted in some of the ways, and not every lock can be extended. If it takes place in none, it is the
// sharpest. The error is an internal one.
func (a Attack) Place(s *Settings, o scenarios.Options) (*scenarios.Scenario, error) {
	on := against(s, o)
	all := a.build(on)
	if on.Extends {
		once := *on
		once.Extends = false
		all = append(all, a.build(&once)...)
	}
	for _, scenario := range all {
		if unable(scenario, o) != nil {
			continue
		}
		r, err := verdict.Judge(scenario, o)
		if err != nil {
			return nil, err
		}
		if len(a.missed(r)) == 0 || r.Witness() != nil {
			return scenario, nil
		}
	}
	return all[0], nil
}

// what is what a run broke.
func (a Attack) what(r *verdict.Result) Broken {
	if a.broken != nil {
		return a.broken(r)
	}
	var kinds scenarios.Findings
	for _, k := range r.Findings {
		// Fencing tokens have assumptions of their own, which an attack on the lock need not keep to.
		token := k == checker.TokenRegressed || k == checker.TokenRepeated
		// An attack is on one moment. What a monitor sees at another has another cause.
		if k.Violation() && !k.Monitored() && !(token && r.Beyond != nil) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return Broken(kinds.String())
}

// missed is why a run says nothing of the attack. Of what the resource checks only attacks on it say something.
func (a Attack) missed(r *verdict.Result) []string {
	if a.whole || a.writes {
		return r.NotTested
	}
	return r.OfLock()
}

func first(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return reasons[0]
}

// notGranted says that a client asked for the lock and never had it.
func notGranted(client string) func(*verdict.Result) Broken {
	return func(r *verdict.Result) Broken {
		returned := false
		for i := range r.History {
			e := &r.History[i]
			if e.Process == client && e.Kind == history.Return && e.Func == history.Acquire {
				if e.Outcome == history.OK {
					return ""
				}
				returned = true
			}
		}
		if !returned {
			return ""
		}
		return "not granted"
	}
}

// notDone says that the holder had the lock and did not write: its lease was over, or would be too soon.
func notDone(r *verdict.Result) Broken {
	granted := false
	for i := range r.History {
		e := &r.History[i]
		switch {
		case e.Process != holder:
		case e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK:
			granted = true
		case e.Kind == history.Call && e.Func == history.Write:
			return ""
		}
	}
	if !granted {
		return ""
	}
	return "the lease is over before the work is done"
}
