package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// ErrNotRepeated is the error of Verify and Again for a run that was different the second time.
var ErrNotRepeated = errors.New("the run did not repeat itself")

// Verify runs a scenario twice, compares the runs, judges them and, where a violation was beyond the budget, looks for the
// smallest faults. A run that a lock program has ended is a result with the problem ProgramFailed. The error matches
// ErrNotRepeated if the runs differ, ErrTooLong if one is, and is an internal one otherwise.
func Verify(s *Scenario, o Options) (result *Result, err error) {
	defer s.recovered(o, &err)
	if result, err = verify(s, o); err != nil {
		if failed := EndedByProgram(s, o, err); failed != nil {
			return failed, nil
		}
	}
	return result, err
}

func verify(s *Scenario, o Options) (*Result, error) {
	r, err := Judge(s, o)
	if err != nil {
		return nil, err
	}
	if err := Again(s, o, r.Outcome); err != nil {
		return nil, err
	}
	if r.Beyond != nil && r.Witness() != nil {
		r.Smallest, err = findSmallest(r)
	}
	return r, err
}

// Again makes a run once more, with the same tier, seed and lock and without monitors, and compares the two. first must have
// its hashes. The error matches ErrNotRepeated if the runs differ, and names the first difference; any other is an internal
// one.
func Again(s *Scenario, o Options, first *Outcome) error {
	_, err := repeated(s, Options{Tier: o.Tier, Seed: o.Seed, Foreign: o.Foreign, Unwatched: true}, first)
	return err
}

func repeated(s *Scenario, o Options, first *Outcome) (*Outcome, error) {
	second, err := Run(s, o)
	if err == nil && (first.HistoryHash != second.HistoryHash || first.TraceHash != second.TraceHash) {
		err = s.failed(o, fmt.Errorf("%w: %s", ErrNotRepeated, difference(s, o, first, second)))
	}
	return second, err
}

// difference names the first event in which two runs differ or, if their histories are the same, looks for a step of the
// kernel in which two further runs do.
func difference(s *Scenario, o Options, a, b *Outcome) string {
	if text := FirstDifference(a.History, b.History); text != "" {
		return text
	}
	var traces [2][]kernel.TraceStep
	for i := range traces {
		if _, err := Run(s, Options{Tier: o.Tier, Seed: o.Seed, Foreign: o.Foreign, Trace: func(t kernel.TraceStep) { traces[i] = append(traces[i], t) }}); err != nil {
			return err.Error()
		}
	}
	for i := range min(len(traces[0]), len(traces[1])) {
		if traces[0][i] != traces[1][i] {
			return fmt.Sprintf("the histories are equal; in two further runs step %v and %v", traces[0][i], traces[1][i])
		}
	}
	return "the histories are equal and the traces are not; two further runs had the same steps"
}

// ErrTiersDiffer is the error of SameOn for a run that is not the same on both tiers.
var ErrTiersDiffer = errors.New("the run is not the same on all tiers")

// noVerdict is what it means that a run is not the same on two tiers.
const noVerdict = "one of the two simulators is wrong, so that there is no verdict"

// SameOn makes a run once more on another tier, which must show the same history and findings, and between libraries and nodes
// the same must pass. The error matches ErrTiersDiffer if it does not, and names the first difference; any other is an internal
// one.
func (r *Result) SameOn(tier Tier) error {
	var ours, theirs dialogue
	buffer := make(history.History, 0, len(r.History))
	other, err := Judge(r.Scenario, Options{Tier: tier, Seed: r.Seed, Foreign: r.foreign, Unhashed: true, Unrefined: r.unrefined, Overheard: theirs.add, Buffer: buffer})
	if err != nil {
		return err
	}
	difference := r.DifferenceOn(other) // before the next run overwrites the buffer
	_, err = Run(r.Scenario, Options{Tier: r.Tier, Seed: r.Seed, Foreign: r.foreign, Unhashed: true, Unwatched: true, Overheard: ours.add, Buffer: buffer})
	if err != nil {
		return err
	}
	if !slices.Equal(r.Findings, other.Findings) { // which says more than where the histories part
		difference = strings.TrimSuffix(r.ending()+", and "+other.ending()+"; "+difference, "; ")
	}
	if difference == "" && ours != theirs {
		if difference, err = r.firstWords(tier); err != nil {
			return err
		}
	}
	if difference == "" {
		return nil
	}
	return r.failed(fmt.Errorf("%w: %s: %s", ErrTiersDiffer, difference, noVerdict))
}

// firstWords makes a run again, on its tier and on another, and gives the first thing that passed between libraries and nodes
// on one of them and not on the other; empty if there is none.
func (r *Result) firstWords(other Tier) (string, error) {
	var lines [2][]string
	for i, tier := range []Tier{r.Tier, other} {
		_, err := Run(r.Scenario, Options{Tier: tier, Seed: r.Seed, Foreign: r.foreign, Unhashed: true, Unwatched: true,
			Overheard: func(line string) { lines[i] = append(lines[i], line) }})
		if err != nil {
			return "", err
		}
	}
	for i := range max(len(lines[0]), len(lines[1])) {
		var said [2]string
		for j, all := range lines {
			if i < len(all) {
				said[j] = all[i]
			}
		}
		if said[0] != said[1] {
			return "clients are told the same, and what passes between them and the nodes differs: " + passed(r.Tier, said[0]) + ", and " + passed(other, said[1]), nil
		}
	}
	return "", nil
}

// passed is a line of what passes on a tier, for people: it begins with its true time, in nanoseconds.
func passed(tier Tier, line string) string {
	at, what, is := strings.Cut(line, " ")
	ns, err := strconv.ParseInt(at, 10, 64)
	if !is || err != nil {
		return tier.on() + " nothing more"
	}
	return fmt.Sprintf("%s at %v %s", tier.on(), time.Duration(ns), strings.TrimSpace(what))
}

// failed is the error of the run.
func (r *Result) failed(err error) error { return &RunError{r.Scenario, r.Tier, r.Seed, err} }

// ending is what a run was found to end with, and the first of what monitors saw.
func (r *Result) ending() string {
	text := fmt.Sprintf("%s the run ends with %q", r.Tier.on(), r.Findings.Says())
	if len(r.Monitored) > 0 {
		text += " (" + strings.TrimSuffix(r.Monitored[0].Text, ".") + ")"
	}
	return text
}

// Again makes a run once more, watched, and wants the same history and trace. One on tier live cannot be made again. The error
// matches ErrNotRepeated or is an internal one.
func (r *Result) Again(watch func(*sim.World)) error {
	_, err := repeated(r.Scenario, Options{Tier: r.Tier, Seed: r.Seed, Foreign: r.foreign, Watch: watch, Unwatched: true}, r.Outcome)
	return err
}

// Seed is the seed to run the scenario with: the one that is asked for or, if that is nil, that of the recorded run, or else 0.
func (s *Scenario) Seed(asked *uint64) uint64 {
	switch {
	case asked != nil:
		return *asked
	case s.Recorded != nil:
		return s.Recorded.Seed
	}
	return 0
}

// Recorded is the run that a scenario file was written from.
type Recorded struct {
	// Seed is the seed of the run, unless another one is given. Example: 7
	Seed uint64 `yaml:"seed,required"`
	// History is the hash of the recorded history. Example: 4d376b5a…
	History string `yaml:"history,required"`
}

// Unlike says in words that a run with the recorded seed did not give the recorded history; empty if it did, or if
// nothing is recorded. Histories differ between locks, and between versions of the library and the simulator.
func (r *Result) Unlike() string {
	rec := r.Scenario.Recorded
	if rec == nil || rec.Seed != r.Seed || rec.History == r.HistoryHash {
		return ""
	}
	verdict := "the verdict is the same"
	if !r.OK() {
		verdict = "the verdict is another one"
	}
	return fmt.Sprintf("not repeated: the history was %s when the file was written, with another lock or by another version of the library or the simulator; %s", rec.History, verdict)
}
