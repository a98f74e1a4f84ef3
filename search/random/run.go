package random

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// trial is what one run of a candidate showed.
type trial struct {
	search.Trial
	// Settings are those that were drawn for a violation.
	Settings []string
	Grants   int
	Duration time.Duration
	History  string // its hash, of a violation
	// OnWire says that the run was made on tier wire, too.
	OnWire bool

	failed bool // there is nothing else
}

// candidate is the experiment of a run, by its number: the first are so many worst schedules.
func candidate(seed uint64, worst, run int) experiment.Candidate {
	drawn, which := run-worst, 0
	if run < worst {
		drawn, which = run, run+1
	}
	c := experiment.Choices(seed, "shard", 0).For("run", drawn) // the words are for good: a seed stands for the same search
	return experiment.Candidate{Seed: uint64(c.For("seed", 0).Below(1 << 53)), Worst: which}
}

// isRefined says whether the run with a seed is compared with the specification of Redlock: one of three, as that costs half as
// much as all else that watches it. A violation is shrunk as it was found, and the file is verified with all.
func isRefined(seed uint64) bool { return isDrawn("refinement", seed, 3) }

// isDrawn says whether something is done with one of so many seeds.
func isDrawn(what string, seed, every uint64) bool {
	return uint64(kernel.Key(0).WithString(what).With(seed))%every == 0
}

// try runs a candidate. The trial keeps nothing that is in the buffer: the result is good until the next run with that.
func try(space experiment.Space, c experiment.Candidate, buffer *history.History) (trial, *verdict.Result, error) {
	found, r, err := search.Try(c.Scenario(space), scenarios.Options{Seed: c.Seed, Foreign: space.Foreign, Unrefined: !isRefined(c.Seed)}, buffer)
	if err != nil {
		return trial{}, nil, err
	}
	t := trial{Trial: found, Grants: r.Report.Grants, Duration: r.Scenario.Duration}
	if len(t.Kinds) > 0 {
		t.History = history.Hash(r.History)
		if space.Swarm {
			t.Settings = settings.Changed(r.Scenario, space.Base)
		}
	}
	return t, r, nil
}

// counting are the violations of a run that count: those that faults beyond the budget excuse only if the search goes there.
func counting(space experiment.Space, t *trial) []checker.Kind {
	return slices.DeleteFunc(slices.Clone(t.Kinds), func(k checker.Kind) bool { return !space.Beyond && slices.Contains(t.Excused, k) })
}

const (
	// repeatEvery: of so many runs, by their numbers, one is repeated and compared.
	repeatEvery = 1000
	// wireEvery: of so many runs, by their seeds, one is made on tier wire too, which costs as much as seven on tier model.
	wireEvery = 16
)

// check makes a run again if it is one of those that are to be the same: in the same way, or on tier wire, where the adapter
// and its scripts run, which tier model replaces. A run that shows nothing shows nothing there.
func check(foreign *scenarios.Foreign, onWire func(*verdict.Result) error, t *trial, r *verdict.Result, run int) error {
	if foreign == nil && !t.NotTested && (run == 0 || isDrawn("wire", r.Seed, wireEvery)) {
		t.OnWire = true
		if err := onWire(r); err != nil {
			return err
		}
	}
	if !isRepeated(run) {
		return nil
	}
	o := scenarios.Options{Seed: r.Seed, Foreign: foreign}
	out, err := scenarios.Run(r.Scenario, o)
	if err != nil {
		return err
	}
	if history.Hash(r.History) != out.HistoryHash {
		return fmt.Errorf("random: seed %d: %w: %s", r.Seed, verdict.ErrNotRepeated, verdict.FirstDifference(r.History, out.History))
	}
	return verdict.Again(r.Scenario, o, out)
}

// isRepeated says whether a run, by its number, is repeated and compared.
func isRepeated(run int) bool { return run%repeatEvery == 0 }

// onWire makes a run on tier wire too. Both must show the same: the error matches verdict.ErrTiersDiffer if they do not. A
// program without that tier makes none.
func onWire(r *verdict.Result) error {
	if !slices.Contains(scenarios.Tiers(), scenarios.Wire) {
		return nil
	}
	return r.SameOn(scenarios.Wire)
}

// FirstViolation is the first run of a search that violates something that counts.
type FirstViolation struct {
	// Run is its number, from 1; zero if there is none.
	Run int
	// Kinds are what it violates.
	Kinds []checker.Kind
}

// First searches as Explore does, with so many runs that are drawn, but stops at the first violation, shrinks and writes
// nothing, and searches no known-broken lock. The error matches verdict.ErrTiersDiffer if a run is not the same on tier wire.
// It is for locks that are known to be broken. Violations of the known kinds do not count: the lock has them by design, and is
// searched for others.
func First(ctx context.Context, space experiment.Space, seed uint64, runs int, known ...checker.Kind) (FirstViolation, error) {
	var buffer history.History
	worst := len(space.Worst())
	for run := range worst + runs {
		if ctx.Err() != nil {
			return FirstViolation{}, context.Cause(ctx)
		}
		t, r, err := try(space, candidate(seed, worst, run), &buffer)
		if err != nil {
			return FirstViolation{}, err
		}
		kinds := slices.DeleteFunc(counting(space, &t), func(k checker.Kind) bool { return slices.Contains(known, k) })
		if len(kinds) > 0 {
			return FirstViolation{run + 1, kinds}, nil
		}
		if err := check(space.Foreign, onWire, &t, r, run); err != nil {
			return FirstViolation{}, err
		}
	}
	return FirstViolation{}, nil
}
