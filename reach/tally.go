package reach

import "slices"

// Tally is what the runs of a suite, a search or a sweep reached, beside the features that their settings turn on. The zero
// Tally is of no runs. Tallies of parts add up to that of the whole, in whatever order.
type Tally struct {
	// Features are what the settings turn on, in the order of [Features], and Unused those of them that no run used.
	Features []Feature `json:"features,omitempty"`
	Unused   []Feature `json:"unused,omitempty"`
	// Reached is which steps, faults, moments and rules the runs got to, and how many of them did.
	Reached Counts `json:"reached"`
	// NoEffects says that nobody looked for faults that made a difference: that there are none of them says nothing.
	NoEffects bool `json:"no_effects,omitempty"`
}

// TurnOn adds features that settings turn on.
func (t *Tally) TurnOn(features ...Feature) {
	var on []Feature
	for _, f := range Features() {
		if slices.Contains(t.Features, f) || slices.Contains(features, f) {
			on = append(on, f)
		}
	}
	t.Features, t.Unused = on, t.Reached.Unused(on)
}

// Add takes in a run, which reached the set.
func (t *Tally) Add(s Set, r *Run) {
	t.Reached.Add(s, r)
	t.update()
}

// Merge adds what other runs reached.
func (t *Tally) Merge(other Tally) {
	t.Reached.Merge(other.Reached)
	t.NoEffects = t.NoEffects || other.NoEffects
	t.TurnOn(other.Features...)
}

// update looks for features that were not used before: what is used stays so.
func (t *Tally) update() {
	if len(t.Unused) > 0 {
		t.Unused = t.Reached.Unused(t.Features)
	}
}

// Clone is a copy that does not change with the tally.
func (t Tally) Clone() Tally {
	return Tally{slices.Clone(t.Features), slices.Clone(t.Unused), t.Reached.Clone(), t.NoEffects}
}
