package reach

import "slices"

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
	t.update()
}

// Merge adds what other runs reached.
func (t *Tally) Merge(other Tally) {
	t.Reached.Merge(other.Reached)
	t.NoEffects = t.NoEffects || other.NoEffects
	t.TurnOn(other.Features...)
}

// update takes the features that are used by now off the unused ones.
func (t *Tally) update() {
	if len(t.Unused) > 0 {
		t.Unused = t.Reached.Unused(t.Features)
	}
}

// Clone is a copy.
func (t Tally) Clone() Tally {
	return Tally{slices.Clone(t.Features), slices.Clone(t.Unused), t.Reached.Clone(), t.NoEffects}
}
