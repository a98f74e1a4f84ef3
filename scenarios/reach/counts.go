package reach

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Set is which entries of the table a run reached. The zero Set is none.
type Set []uint64

func newSet() Set { return make(Set, (len(Table())+63)/64) }

func (s Set) add(i int) { s[i/64] |= 1 << (i % 64) }

// Has reports whether the entry at this place of the table is in the set.
func (s Set) Has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// Place is where an entry is in the table; −1 if it is not there.
func Place(kind Kind, name string) int {
	return slices.IndexFunc(Table(), func(e Entry) bool { return e.Kind == kind && e.Name == name })
}

// Counts counts the runs that reached each entry of the table. The zero Counts is of no runs.
type Counts struct {
	// Runs is how many there were, and Others how many of them were of a protocol that is not the library.
	Runs, Others int
	// reached and placed are in the table's order; nil stands for zeros.
	reached, placed []int
}

// Add adds a run.
func (c *Counts) Add(s Set, r *Run) {
	c.grow()
	c.Runs++
	if r.Other {
		c.Others++
	}
	for i, e := range Table() {
		if s.Has(i) {
			c.reached[i]++
		}
		if e.Kind == Fault && slices.Contains(r.Placed, e.Name) || e.Kind == Trigger && slices.Contains(r.Awaited, e.Name) {
			c.placed[i]++
		}
	}
}

// AddEffect notes that a run would have been different without a kind of fault.
func (c *Counts) AddEffect(kind string) {
	c.grow()
	if i := Place(Effect, kind); i >= 0 {
		c.reached[i]++
	}
}

// Merge adds what other runs reached.
func (c *Counts) Merge(other Counts) {
	c.grow()
	c.Runs += other.Runs
	c.Others += other.Others
	for i := range other.reached {
		c.reached[i] += other.reached[i]
		c.placed[i] += other.placed[i]
	}
}

// Clone is a copy.
func (c Counts) Clone() Counts {
	return Counts{c.Runs, c.Others, slices.Clone(c.reached), slices.Clone(c.placed)}
}

func (c *Counts) grow() {
	if c.reached == nil {
		c.reached, c.placed = make([]int, len(Table())), make([]int, len(Table()))
	}
}

// Reached is in how many runs an entry was reached.
func (c *Counts) Reached(kind Kind, name string) int {
	i := Place(kind, name)
	if i < 0 || c.reached == nil {
		return 0
	}
	return c.reached[i]
}

// Row is an entry with its counts.
type Row struct {
	// Kind and Name are the entry, What describes it, and Feature is the feature that it belongs to, if any.
	Kind    Kind    `json:"kind"`
	Name    string  `json:"name"`
	What    string  `json:"what"`
	Feature Feature `json:"feature,omitempty"`
	// Placed is in how many runs a fault, or something at a moment, was placed.
	Placed int `json:"placed,omitempty"`
	// Runs is in how many runs it was reached.
	Runs int `json:"runs"`
}

// table is Counts in JSON.
type table struct {
	Runs    int   `json:"runs"`
	Others  int   `json:"runs_of_other_protocols,omitempty"`
	Entries []Row `json:"entries"`
}

// Rows are all entries, reached or not, in the order of the table.
func (c *Counts) Rows() []Row {
	c.grow()
	var rows []Row
	for i, e := range Table() {
		rows = append(rows, Row{e.Kind, e.Name, e.What, e.Feature, c.placed[i], c.reached[i]})
	}
	return rows
}

// MarshalJSON gives the rows.
func (c Counts) MarshalJSON() ([]byte, error) {
	return json.Marshal(table{c.Runs, c.Others, c.Rows()})
}

// UnmarshalJSON reads what MarshalJSON gives. An entry that is not in the table is an error: it is of another version.
func (c *Counts) UnmarshalJSON(data []byte) error {
	var t table
	if err := json.Unmarshal(data, &t); err != nil {
		return err
	}
	*c = Counts{Runs: t.Runs, Others: t.Others}
	c.grow()
	for _, r := range t.Entries {
		i := Place(r.Kind, r.Name)
		if i < 0 {
			return fmt.Errorf("reach: there is no %s %q: it is of another version", r.Kind, r.Name)
		}
		c.reached[i], c.placed[i] = r.Runs, r.Placed
	}
	return nil
}

// Never lists the entries of a kind that no run reached. Of faults, effects and moments these are only those that were placed
// in some run, and without a run of the library there are no steps of it.
func (c *Counts) Never(kind Kind, features []Feature) []Entry {
	var never []Entry
	for i, e := range Table() {
		switch {
		case e.Kind != kind || e.Never != "" || c.reached != nil && c.reached[i] > 0:
		case kind == Step && c.Runs > 0 && c.Others == c.Runs:
		case e.Feature != "" && !slices.Contains(features, e.Feature):
		case (kind == Fault || kind == Trigger) && (c.placed == nil || c.placed[i] == 0):
		case kind == Effect && c.Reached(Fault, e.Name) == 0:
		default:
			never = append(never, e)
		}
	}
	return never
}

// Of counts the entries of a kind that could be reached, in the sense of Never, and those that were.
func (c *Counts) Of(kind Kind, features []Feature) (reached, all int) {
	for i, e := range Table() {
		if e.Kind == kind && c.reached != nil && c.reached[i] > 0 {
			reached++
		}
	}
	return reached, reached + len(c.Never(kind, features))
}

// Unused lists the features that settings turn on and no run used.
func (c *Counts) Unused(features []Feature) []Feature {
	var unused []Feature
	for _, f := range features {
		used := slices.ContainsFunc(Table(), func(e Entry) bool { return e.Feature == f && e.Shows && c.Reached(e.Kind, e.Name) > 0 })
		if !used {
			unused = append(unused, f)
		}
	}
	return unused
}
