package attacks

import (
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// Attack is one kind of attack.
type Attack struct {
	// Name is one word, and Text what the adversary does.
	Name, Text string

	// build gives the ways to place it, the sharpest first.
	build func(*Settings) []*scenarios.Scenario
	// byClock: nothing but clocks decides when the second client asks.
	byClock bool
	// whole: the scenario is run as it is.
	whole bool
	// named: it is only made if it is asked for by name.
	named bool
	// writes: it is on the resource, by a write that comes too late.
	writes bool
	// broken says what a run broke, for an attack that is not about violations; nil for one that is.
	broken func(*scenarios.Result) Broken
}

// Exclusion says whether the attack is on mutual exclusion, and not on availability.
func (x Attack) Exclusion() bool { return x.broken == nil }

// attacks lists all attacks.
func attacks() []Attack {
	return []Attack{
		{Name: "clocks", Text: "the holder's clock is slow or stopped, the nodes' clocks are fast or step forward, and the second client asks as soon as a quorum is free", build: clocks, byClock: true},
		{Name: "restart", Text: "just enough of the holder's nodes stop right after the grant, and come back without their memory as early as the budget allows", build: restart},
		{Name: "memory-loss", Text: "the holder has only a quorum, and as many of its nodes as the budget allows lose its lock at once, as by an eviction", build: memoryLoss},
		{Name: "failover", Text: "the holder has only a quorum, and as many of its nodes as the budget allows lose power and are replaced by replicas that have not received its key, or lose it by an eviction if they have no replica", build: failover, named: true},
		{Name: "counters", Text: "the holder has only a quorum and releases its lock; later as many of its nodes as the budget allows lose their fencing counters, as by an eviction, and the second client is granted the lock by these", build: counters, named: true},
		{Name: "split", Text: "each client reaches only nodes that the other cannot reach", build: split},
		{Name: "late-extend", Text: "the holder extends its lock long after its lease is over, when the second client has the lock, or will ask for it", build: lateExtend, named: true},
		{Name: "lost-extend", Text: "the holder extends its lock, and what it sends reaches fewer nodes than a quorum", build: lostExtend, byClock: true, named: true},
		{Name: "late-release", Text: "the holder releases its lock, and that reaches the nodes when its lease is over and the second client has the lock", build: lateRelease, named: true},
		{Name: "pause", Text: "the holder checks its lease at the last moment that its guard time allows, pauses, and then its write takes as long as a message can", build: pause, byClock: true, writes: true},
		{Name: "timeout", Text: "every message takes as long as it can, and the client's clock is fast; a node that answers after its timeout has no vote", build: timeout, broken: notGranted(holder)},
		{Name: "crash", Text: "the holder crashes while it asks for the lock, or once it has it; a second client asks when its lease is long over", build: crash, broken: notGranted(second)},
		{Name: "work", Text: "every message takes as long as it can, the client's clock is fast, and the client writes when its work is done, if it still has its lease", build: work, broken: notDone},
	}
}

// Timeline is the attack that a scenario brings along: its own timeline.
func Timeline() Attack {
	return Attack{Name: "timeline", Text: "the scenario's own timeline", whole: true, build: func(s *Settings) []*scenarios.Scenario { return []*scenarios.Scenario{s.Scenario} }}
}

// Outcome is the result of an attack.
type Outcome struct {
	Broken Broken
	// NotTested is why the attack did not take place; empty if it did, or if it broke the lock.
	NotTested string
	// Messages is how long the calls took that the attack rests on, in true time; 0 if messages take no time. The lock may
	// hold in the simulator by this much more than the arithmetic says.
	Messages time.Duration
	// Result is the run that decided, and Runs are all runs, including it. There are none if the lock cannot do what the attack
	// has the clients do.
	Result *scenarios.Result
	Runs   []*scenarios.Result
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
func (x Attack) Run(s *Settings, o scenarios.Options) (Outcome, error) {
	out, err := x.run(s, o)
	if err != nil || s.Joint || !s.CanJoin() || x.whole || out.Broken != "" {
		return out, err
	}
	joint := *s
	joint.Joint = true
	other, err := x.run(&joint, o)
	if err != nil {
		return out, err
	}
	other.Runs = append(out.Runs, other.Runs...)
	other.Messages = max(other.Messages, out.Messages)
	switch {
	case other.Broken != "":
		other.Broken += jointly
		return other, nil
	case other.NotTested != "":
		other.NotTested += jointly
		return other, nil
	}
	out.Runs, out.Messages = other.Runs, other.Messages
	return out, nil
}

// jointly says that an attack was on all resources as one lock.
const jointly = ", of all resources as one lock"

// run makes the attack on what the settings say.
func (x Attack) run(s *Settings, o scenarios.Options) (Outcome, error) {
	out := Outcome{}
	var runs []*scenarios.Result
	var reasons []string
	for _, scenario := range x.build(against(s, o)) {
		if why := unable(scenario, o); why != nil {
			reasons = append(reasons, why.Error())
			continue
		}
		r, err := scenarios.Judge(scenario, o)
		if err != nil {
			return out, err
		}
		runs = append(runs, r)
		this := Outcome{Broken: x.what(r), NotTested: first(x.missed(r)), Messages: x.messages(s, r.History), Result: r}
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
	on.itself = o.Foreign != nil && o.Foreign.Renews
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
func (x Attack) Place(s *Settings, o scenarios.Options) (*scenarios.Scenario, error) {
	on := against(s, o)
	all := x.build(on)
	if on.Extends {
		once := *on
		once.Extends = false
		all = append(all, x.build(&once)...)
	}
	for _, scenario := range all {
		if unable(scenario, o) != nil {
			continue
		}
		r, err := scenarios.Judge(scenario, o)
		if err != nil {
			return nil, err
		}
		if len(x.missed(r)) == 0 || r.Witness() != nil {
			return scenario, nil
		}
	}
	return all[0], nil
}

// what is what a run broke.
func (x Attack) what(r *scenarios.Result) Broken {
	if x.broken != nil {
		return x.broken(r)
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
func (x Attack) missed(r *scenarios.Result) []string {
	if x.whole || x.writes {
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

// messages is how long the granted acquires and the writes of the second client took. If a lock asks all nodes at once and only
// clocks decide, what counts of the acquires is the request of the holder and the reply to the second client: half.
func (x Attack) messages(s *Settings, h history.History) time.Duration {
	var acquires, writes time.Duration
	called := map[int]int64{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Kind == history.Call:
			called[e.Op] = e.Time
			if e.Func == history.Acquire && e.Resource != s.contended() && s.contended() != "" && !x.whole {
				called[e.Op] = -1 // of the same call as that on the contended one
			}
		case e.Kind != history.Return || e.Outcome != history.OK || called[e.Op] < 0:
		case e.Func == history.Acquire:
			acquires += time.Duration(e.Time - called[e.Op])
		case e.Func == history.Write && e.Process == second:
			writes += time.Duration(e.Time - called[e.Op])
		}
	}
	if x.byClock && s.Lock.Capabilities().AllAtOnce {
		acquires /= 2
	}
	return acquires + writes
}

// Find is the attacks of these names; without names, all attacks on mutual exclusion. unknown is a name that no attack has.
func Find(names ...string) (found []Attack, unknown string) {
	for _, name := range names {
		if !slices.ContainsFunc(attacks(), func(x Attack) bool { return x.Name == name }) {
			return nil, name
		}
	}
	for _, x := range attacks() {
		if slices.Contains(names, x.Name) || len(names) == 0 && x.Exclusion() && !x.named {
			found = append(found, x)
		}
	}
	return found, ""
}

// notGranted says that a client asked for the lock and never had it.
func notGranted(client string) func(*scenarios.Result) Broken {
	return func(r *scenarios.Result) Broken {
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
func notDone(r *scenarios.Result) Broken {
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

// Names lists the names of the attacks and what they are.
func Names() (names, texts []string) {
	for _, x := range attacks() {
		names, texts = append(names, x.Name), append(texts, x.Text)
	}
	return names, texts
}
