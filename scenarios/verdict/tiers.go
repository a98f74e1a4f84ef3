package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// ErrTiersDiffer is the error of SameOn for a run that is not the same on both tiers.
var ErrTiersDiffer = errors.New("the run is not the same on all tiers")

// noVerdict is what it means that a run is not the same on two tiers.
const noVerdict = "one of the two simulators is wrong, so that there is no verdict"

// dialogue stands for all that passed between the clients' libraries and the nodes in a run.
type dialogue struct{ lines kernel.Key }

func (d *dialogue) add(line string) { d.lines = d.lines.WithString(line) }

// SameOn makes a run once more on another tier, which must show the same history and findings, and between libraries and nodes
// the same must pass. The error matches ErrTiersDiffer if it does not, and names the first difference; any other is an internal
// one.
func (r *Result) SameOn(tier scenarios.Tier) error {
	var ours, theirs dialogue
	buffer := make(history.History, 0, len(r.History))
	o := r.options()
	o.Tier, o.Unhashed, o.Unrefined, o.Overheard, o.Buffer = tier, true, r.unrefined, theirs.add, buffer
	other, err := Judge(r.Scenario, o)
	if err != nil {
		return err
	}
	difference := r.DifferenceOn(other) // before the next run overwrites the buffer
	o.Tier, o.Unwatched, o.Overheard = r.Tier, true, ours.add
	if _, err := scenarios.Run(r.Scenario, o); err != nil {
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
	return failed(r.Scenario, r.options(), fmt.Errorf("%w: %s: %s", ErrTiersDiffer, difference, noVerdict))
}

// firstWords makes a run again, on its tier and on another, and gives the first thing that passed between libraries and nodes
// on one of them and not on the other; empty if there is none.
func (r *Result) firstWords(other scenarios.Tier) (string, error) {
	var lines [2][]string
	for i, tier := range []scenarios.Tier{r.Tier, other} {
		o := r.options()
		o.Tier, o.Unhashed, o.Unwatched = tier, true, true
		o.Overheard = func(line string) { lines[i] = append(lines[i], line) }
		if _, err := scenarios.Run(r.Scenario, o); err != nil {
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
func passed(tier scenarios.Tier, line string) string {
	at, what, is := strings.Cut(line, " ")
	ns, err := strconv.ParseInt(at, 10, 64)
	if !is || err != nil {
		return on(tier) + " nothing more"
	}
	return fmt.Sprintf("%s at %v %s", on(tier), time.Duration(ns), strings.TrimSpace(what))
}

// ending is what a run was found to end with, and the first of what monitors saw.
func (r *Result) ending() string {
	text := fmt.Sprintf("%s the run ends with %q", on(r.Tier), r.Findings.Says())
	if len(r.Monitored) > 0 {
		text += " (" + strings.TrimSuffix(r.Monitored[0].Text, ".") + ")"
	}
	return text
}

// compare has it be a problem that a run differs from the first of the scenario, on another tier, if neither is lost.
// isSameDialogue says that the same passed between libraries and nodes.
func (r *Result) compare(first *Result, isSameDialogue bool) (err error) {
	defer r.Scenario.Recovered(r.options(), &err)
	difference := ""
	switch {
	case r.Lost() || first.Lost():
	case r.HistoryHash != first.HistoryHash:
		difference = first.DifferenceOn(r)
	case !isSameDialogue:
		difference, err = first.firstWords(r.Tier)
	}
	if difference != "" && err == nil {
		r.Problems = append(r.Problems, Problem{Safety, fmt.Sprintf("%v: %s: %s", ErrTiersDiffer, difference, noVerdict)})
	}
	return err
}
