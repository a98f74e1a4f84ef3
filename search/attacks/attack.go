package attacks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Attack is one kind of attack: a row of the table of all.
type Attack struct {
	// Name is one word, and Text what the adversary does.
	Name, Text string
	// Uses are the keys of the budget that it uses beside delay, which all do: the holder's writes are late.
	Uses []string
	// Knobs are the settings that stop it, with their formulas, in so far as there are any.
	Knobs []Knob

	// build gives the ways to place it, the sharpest first.
	build func(*Settings) []*scenarios.Scenario
	// whole: the scenario is run as it is.
	whole bool
	// named: it is on mutual exclusion, and all the same only made by name.
	named bool
	// writes: it is on the resource, by a write that comes too late.
	writes bool
	// broken says what a run broke, for an attack that is not about violations; nil for one that is.
	broken func(*verdict.Result) Broken
}

// Exclusion says whether the attack is on mutual exclusion, and not on availability.
func (a Attack) Exclusion() bool { return a.broken == nil }

// ByName says that it is only made if it is asked for by its name.
func (a Attack) ByName() bool { return a.named || !a.Exclusion() }

// All lists all attacks.
func All() []Attack {
	return []Attack{
		{Name: "clocks", Text: "the holder's clock is slow or stopped, the nodes' clocks are fast or step forward, and the second client asks as soon as a quorum is free",
			Uses: []string{"clock-rate", "clock-step", "suspend"}, Knobs: clockKnobs, build: clocks},
		{Name: "restart", Text: "just enough of the holder's nodes stop right after the grant, and come back without their memory as early as the budget allows",
			Uses: []string{"clock-rate", "clock-step", "suspend", "restart-delay", "no-power-loss"}, Knobs: restartKnobs, build: restart},
		{Name: "memory-loss", Text: "the holder has only a quorum, and as many of its nodes as the budget allows lose its lock at once, as by an eviction",
			Uses: []string{"memory-loss"}, Knobs: memoryLossKnobs, build: memoryLoss},
		{Name: "failover", Text: "the holder has only a quorum, and as many of its nodes as the budget allows lose power and are replaced by replicas that have not received its key, or lose it by an eviction if they have no replica",
			Uses: []string{"memory-loss"}, build: failover, named: true},
		{Name: "counters", Text: "the holder has only a quorum and releases its lock; later as many of its nodes as the budget allows lose their fencing counters, as by an eviction, and the second client is granted the lock by these",
			Uses: []string{"counter-loss"}, Knobs: countersKnobs, build: counters, named: true},
		{Name: "split", Text: "each client reaches only nodes that the other cannot reach", build: split},
		{Name: "late-extend", Text: "the holder extends its lock long after its lease is over, when the second client has the lock, or will ask for it", build: lateExtend, named: true},
		{Name: "lost-extend", Text: "the holder extends its lock, and what it sends reaches fewer nodes than a quorum", build: lostExtend, named: true},
		{Name: "late-release", Text: "the holder releases its lock when its lease is over and the second client has the lock", build: lateRelease, named: true},
		{Name: "between", Text: "at each request that a call of the lock sends, the request or its answer is lost or held up, or the holder stands still before it reads the answer, until the lease is over and another client has the lock",
			Uses: []string{"pause", "suspend"}, build: between, named: true},
		{Name: "rounding", Text: "the TTL is no whole number of seconds, and the second client asks as soon as a quorum is free", build: rounding, named: true},
		{Name: "again", Text: "the holder relies on the renewal of a lock that is not its first: it has released or lost one before, or releases another that it has beside it", build: again, named: true},
		{Name: "pause", Text: "the holder checks its lease at the last moment that its guard time allows, pauses, and then its write takes as long as a message can",
			Uses: []string{"clock-rate", "clock-step", "pause", "suspend"}, Knobs: pauseKnobs, build: pause, writes: true},
		{Name: "timeout", Text: "every message takes as long as it can, and the client's clock is fast; a node that answers after its timeout has no vote",
			Uses: []string{"clock-rate"}, Knobs: timeoutKnobs, build: timeout, broken: notGranted(holder)},
		{Name: "crash", Text: "the holder crashes while it asks for the lock, or once it has it; a second client asks when its lease is long over",
			Uses: []string{"clock-rate"}, build: crash, broken: notGranted(second)},
		{Name: "work", Text: "every message takes as long as it can, the client's clock is fast, and the client writes when its work is done, if it still has its lease",
			Uses: []string{"clock-rate"}, build: work, broken: notDone},
	}
}

// Timeline is the attack that a scenario brings along: its own timeline.
func Timeline() Attack {
	return Attack{Name: "timeline", Text: "the scenario's own timeline", whole: true, build: func(s *Settings) []*scenarios.Scenario { return []*scenarios.Scenario{s.Scenario} }}
}

// Find is the attacks of these names; without names, all attacks on mutual exclusion.
func Find(names ...string) (found []Attack, err error) {
	all := All()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(a Attack) bool { return a.Name == name }) {
			var known []string
			for _, a := range all {
				known = append(known, a.Name)
			}
			return nil, Unknown("schedule", name, known...)
		}
	}
	for _, a := range all {
		if slices.Contains(names, a.Name) || len(names) == 0 && !a.ByName() {
			found = append(found, a)
		}
	}
	return found, nil
}

// Unknown is the error of a name that is none of those that are valid.
func Unknown(kind, name string, valid ...string) error {
	hint := cmp.Or(strictyaml.DidYouMean(strictyaml.Nearest(name, valid)), "; valid: "+strings.Join(valid, ", "))
	return fmt.Errorf("there is no %s %q%s", kind, name, hint)
}
