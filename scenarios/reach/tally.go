package reach

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/wordwrap"
)

// Tally is what the runs of a suite, a search or a sweep reached, and the features that their settings turn on. The zero Tally
// is of no runs. Tallies of parts add up to that of the whole, in any order.
type Tally struct {
	// Features are what the settings turn on, in the order of [Features], and Unused those of them that no run used.
	Features []Feature `json:"features,omitempty"`
	Unused   []Feature `json:"unused,omitempty"`
	// Reached is which steps, faults, moments and rules the runs got to, and how many of them did.
	Reached Counts `json:"reached"`
	// NoEffects: nobody looked for faults that made a difference, so having found none means nothing.
	NoEffects bool `json:"no_effects,omitempty"`
}

// TurnOn adds features that settings turn on.
func (t *Tally) TurnOn(features ...Feature) {
	var on []Feature
	for _, f := range allFeatures() {
		if slices.Contains(t.Features, f) || slices.Contains(features, f) {
			on = append(on, f)
		}
	}
	t.Features, t.Unused = on, t.Reached.Unused(on)
}

// Add adds a run that reached the set.
func (t *Tally) Add(s Set, r *Run) {
	t.Reached.Add(s, r)
	if len(t.Unused) > 0 {
		t.Unused = t.Reached.Unused(t.Features)
	}
}

// Merge adds what other runs reached.
func (t *Tally) Merge(other Tally) {
	t.Reached.Merge(other.Reached)
	t.NoEffects = t.NoEffects || other.NoEffects
	t.TurnOn(other.Features...)
}

// Clone is a copy.
func (t Tally) Clone() Tally {
	return Tally{slices.Clone(t.Features), slices.Clone(t.Unused), t.Reached.Clone(), t.NoEffects}
}

// inWords is what was reached of a kind.
var inWords = map[Kind]string{Step: "steps", Fault: "faults injected", Effect: "faults made a difference", Trigger: "moments came", Rule: "checker rules had something to compare"}

// Write says for each kind how much of it was reached, and what never was. It leaves out a kind of which nothing could be
// reached. Lines fit a terminal.
func (t *Tally) Write(w io.Writer) error {
	var b strings.Builder
	c, features := &t.Reached, t.Features
	word := "reached"
	for _, k := range Kinds() {
		reached, all := c.Of(k, features)
		if all == 0 || k == Effect && t.NoEffects {
			continue
		}
		text := fmt.Sprintf("%d of %d %s", reached, all, inWords[k])
		if never := c.Never(k, features); len(never) > 0 {
			var names []string
			for _, e := range never {
				names = append(names, e.Name)
			}
			text += "; never: " + strings.Join(names, ", ")
		}
		b.WriteString(wordwrap.Help(fmt.Sprintf("%-10s", word), strings.Repeat(" ", 11), text))
		word = ""
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Warnings names the features that settings turn on and no run used.
func (t *Tally) Warnings() []string {
	var all []string
	for _, f := range t.Unused {
		all = append(all, fmt.Sprintf("the settings turn on %s, and no run used it: nothing was tested of it", f))
	}
	return all
}

// Blind says that in some runs the resource refused writes that carried no token and no mark, and that it went by tokens or
// marks in none: that no write was stale and no update was lost is then its doing, and not the lock's.
func (t *Tally) Blind() bool {
	return slices.Contains(t.Unused, Checks) && t.Reached.Reached(Step, refusedBlindly) > 0
}
