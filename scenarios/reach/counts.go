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
	rows         []Row // in the table's order; nil before the first run
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

// Rows are all entries, reached or not, in the order of the table.
func (c *Counts) Rows() []Row {
	if c.rows == nil {
		for _, e := range Table() {
			c.rows = append(c.rows, Row{Kind: e.Kind, Name: e.Name, What: e.What, Feature: e.Feature})
		}
	}
	return c.rows
}

// Add adds a run.
func (c *Counts) Add(s Set, r *Run) {
	c.Runs++
	if r.Other {
		c.Others++
	}
	for i := range c.Rows() {
		row := &c.rows[i]
		if s.Has(i) {
			row.Runs++
		}
		if row.Kind == Fault && slices.Contains(r.Placed, row.Name) || row.Kind == Trigger && slices.Contains(r.Awaited, row.Name) {
			row.Placed++
		}
	}
}

// AddEffect notes that a run would have been different without a kind of fault.
func (c *Counts) AddEffect(kind string) {
	if i := Place(Effect, kind); i >= 0 {
		c.Rows()[i].Runs++
	}
}

// Merge adds what other runs reached.
func (c *Counts) Merge(other Counts) {
	c.Runs += other.Runs
	c.Others += other.Others
	for i, row := range other.rows {
		c.Rows()[i].Runs += row.Runs
		c.rows[i].Placed += row.Placed
	}
}

// Clone is a copy.
func (c Counts) Clone() Counts { return Counts{c.Runs, c.Others, slices.Clone(c.rows)} }

// Reached is in how many runs an entry was reached.
func (c *Counts) Reached(kind Kind, name string) int {
	if i := Place(kind, name); i >= 0 {
		return c.Rows()[i].Runs
	}
	return 0
}

// table is Counts in JSON.
type table struct {
	Runs    int   `json:"runs"`
	Others  int   `json:"runs_of_other_protocols,omitempty"`
	Entries []Row `json:"entries"`
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
	for _, r := range t.Entries {
		i := Place(r.Kind, r.Name)
		if i < 0 {
			return fmt.Errorf("reach: there is no %s %q: it is of another version", r.Kind, r.Name)
		}
		c.Rows()[i].Runs, c.rows[i].Placed = r.Runs, r.Placed
	}
	return nil
}

// Never lists the entries of a kind that no run reached. Of faults, effects and moments these are only those that were placed
// in some run, and without a run of the library there are no steps of it.
func (c *Counts) Never(kind Kind, features []Feature) []Entry {
	var never []Entry
	for i, row := range c.Rows() {
		e := Table()[i]
		switch {
		case e.Kind != kind || e.Never != "" || row.Runs > 0:
		case kind == Step && c.Runs > 0 && c.Others == c.Runs:
		case e.Feature != "" && !slices.Contains(features, e.Feature):
		case (kind == Fault || kind == Trigger) && row.Placed == 0:
		case kind == Effect && c.Reached(Fault, e.Name) == 0:
		default:
			never = append(never, e)
		}
	}
	return never
}

// Of counts the entries of a kind that could be reached, in the sense of Never, and those that were.
func (c *Counts) Of(kind Kind, features []Feature) (reached, all int) {
	for _, row := range c.Rows() {
		if row.Kind == kind && row.Runs > 0 {
			reached++
		}
	}
	return reached, reached + len(c.Never(kind, features))
}

// Unused lists the features that settings turn on and no run used.
func (c *Counts) Unused(features []Feature) (unused []Feature) {
	used := map[Feature]bool{}
	for i, row := range c.Rows() {
		used[row.Feature] = used[row.Feature] || Table()[i].Shows && row.Runs > 0
	}
	for _, f := range features {
		if !used[f] {
			unused = append(unused, f)
		}
	}
	return unused
}
