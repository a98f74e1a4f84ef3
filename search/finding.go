package search

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
	"redlocksim/internal/printable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
)

// Finding is one way to break the lock: a kind of violation, and the families of faults and the settings that it takes.
type Finding struct {
	// Kind is the violation, and Families are the faults of the shrunk experiment.
	Kind     checker.Kind `json:"kind"`
	Families []string     `json:"families"`
	// Settings are those of the shrunk experiment that a search has set itself, by the names of package settings.
	Settings []string `json:"settings,omitempty"`
	// Faults is how many faults it has.
	Faults int `json:"faults"`
	// Events is how much happens in the run of the shrunk experiment, and EventsBefore in that in which it was found: what
	// clients ask and are told, what reaches the resource, and faults.
	Events       int `json:"events"`
	EventsBefore int `json:"events-before"`
	// Beyond says that the faults exceed the budget, which excuses it, and Despite that they do and are no excuse.
	Beyond  bool `json:"beyond"`
	Despite bool `json:"despite,omitempty"`
	// Blame says what is to blame for one that nothing excuses: the settings or the lock's code.
	Blame string `json:"blame,omitempty"`
	// Run is the number of the run in which it was found first, in a random search, and Seed its seed.
	Run  int    `json:"run"`
	Seed uint64 `json:"seed"`
	// Times is in how many runs that kind of violation came up with those families of faults present.
	Times int `json:"times"`
	// File is the name of the scenario file in the search's directory.
	File string `json:"file,omitempty"`

	// Scenario is the shrunk experiment; nil after a search was resumed.
	Scenario *scenarios.Scenario `json:"-"`
}

// NewFinding is the finding, seen once, that a violation was shrunk to, whose run is given.
func NewFinding(v *Violation, shrunk *verdict.Result) Finding {
	example := shrunk.Scenario
	f := Finding{Kind: v.Kind, Families: Families(example), Seed: v.Seed, Times: 1, Scenario: example, Events: Events(shrunk.History)}
	if v.Base != nil {
		f.Settings = settings.Changed(example, v.Base)
	}
	f.Beyond = shrunk.Excused(v.Kind)
	f.Despite = shrunk.Beyond != nil && !f.Beyond
	if i := slices.IndexFunc(shrunk.Report.Findings, func(of checker.Finding) bool { return of.Kind == v.Kind }); i >= 0 && !f.Beyond {
		f.Blame = settings.Blame(shrunk, &shrunk.Report.Findings[i])
	}
	for _, item := range example.Timeline {
		if item.Fault != nil {
			f.Faults++
		}
	}
	return f
}

// Events is how many events of a history a reader has to follow: all but the steps of the algorithm.
func Events(h history.History) int {
	n := 0
	for i := range h {
		if h[i].Kind != history.Step {
			n++
		}
	}
	return n
}

// Shown is what a run tells of a violation.
type Shown struct {
	Kind checker.Kind `json:"kind"`
	// Families are the families of faults that were there, and Settings the settings that were drawn.
	Families []string `json:"families"`
	Settings []string `json:"settings,omitempty"`
	// Beyond says that the faults exceed the budget, which excuses it, and Despite that they do and are no excuse.
	Beyond  bool `json:"beyond,omitempty"`
	Despite bool `json:"despite,omitempty"`
}

// Alike says whether two runs tell the same.
func (s *Shown) Alike(o *Shown) bool {
	return s.Kind == o.Kind && s.Beyond == o.Beyond && s.Despite == o.Despite && slices.Equal(s.Families, o.Families) && slices.Equal(s.Settings, o.Settings)
}

// Check looks at one that comes from elsewhere, whose words become file names and are printed.
func (s *Shown) Check() error {
	switch {
	case s.Kind.Word() == "":
		return fmt.Errorf("there is no violation of kind %q", s.Kind)
	case !eachOnce(s.Families, isFamily):
		return fmt.Errorf("%q are no families of faults", s.Families)
	case !eachOnce(s.Settings, settings.Is):
		return fmt.Errorf("%q are no settings of a search", s.Settings)
	}
	return nil
}

// eachOnce says whether all names are known, and none of them comes twice.
func eachOnce(names []string, isKnown func(string) bool) bool {
	for i, name := range names {
		if !isKnown(name) || slices.Contains(names[:i], name) {
			return false
		}
	}
	return true
}

// Check looks at one that comes from elsewhere.
func (f *Finding) Check() error {
	shown := f.shown()
	if err := shown.Check(); err != nil {
		return err
	}
	if f.Faults < len(f.Families) || f.Faults > 0 && len(f.Families) == 0 {
		return fmt.Errorf("%d faults of the families %q", f.Faults, f.Families)
	}
	if f.Blame != printable.Text(f.Blame, maxBlame) {
		return fmt.Errorf("%q is to blame", printable.Short(f.Blame, maxBlame))
	}
	return nil
}

// maxBlame bounds what a finding says is to blame, in bytes: a sentence.
const maxBlame = 1 << 10

// explains says whether a violation may be another instance of the finding, as far as the families of faults and the settings
// tell that were there. What is known beyond the budget explains nothing within it, and what is excused nothing that is not.
func (f *Finding) explains(s *Shown) bool {
	within := func(names, all []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(all, name) })
	}
	return f.Kind == s.Kind && (s.Beyond || !f.Beyond && (s.Despite || !f.Despite)) && within(f.Families, s.Families) && within(f.Settings, s.Settings)
}

// Causes are the families of faults and the settings that the violation takes.
func (f *Finding) Causes() []string { return slices.Concat(f.Families, f.Settings) }

// FileName is what the scenario file of the finding is called, the number-th of its search.
func (f *Finding) FileName(number int) string { return f.name(number) + ".yaml" }

func (f *Finding) name(number int) string {
	return strings.Join(append([]string{fmt.Sprintf("%d-%s", number, f.Kind)}, f.Causes()...), "-")
}

// write writes the scenario file of the finding to a directory that is there.
func (f *Finding) write(dir string, rules outfile.Rules) error {
	data, err := f.Scenario.Encode()
	if err != nil {
		return err
	}
	return rules.Write(filepath.Join(dir, f.File), append([]byte(mark.YAML+"\n"), data...))
}

// Findings are the ways to break the lock that a search has found, each another one.
type Findings []Finding

// Explain is the number, from 1, of the first finding that a violation may be another instance of; zero if there is none.
func (all Findings) Explain(s Shown) int {
	return 1 + slices.IndexFunc(all, func(f Finding) bool { return f.explains(&s) })
}

// Check looks at the findings of a directory, whose files they name.
func (all Findings) Check() error {
	for i := range all {
		f := &all[i]
		if err := f.Check(); err != nil {
			return fmt.Errorf("finding %d: %w", i+1, err)
		}
		if want := f.FileName(i + 1); f.File != want {
			return fmt.Errorf("finding %d: its file is %q, not %s", i+1, f.File, want)
		}
	}
	return nil
}

// shown is what the run of the finding tells.
func (f *Finding) shown() Shown { return Shown{f.Kind, f.Families, f.Settings, f.Beyond, f.Despite} }

// Add adds a finding and writes its files to dir, unless that is empty. If it is another instance of one that is known, only
// that one's Times grow.
func (all *Findings) Add(f Finding, dir string, rules outfile.Rules) error {
	if known := all.Explain(f.shown()); known != 0 {
		(*all)[known-1].Times += f.Times
		return nil
	}
	number := len(*all) + 1
	f.Scenario.Name = f.name(number)
	if dir != "" {
		f.File = f.FileName(number)
		if err := f.write(dir, rules); err != nil {
			return err
		}
	}
	*all = append(*all, f)
	return nil
}

// WithinFirst puts violations within the budget before those beyond it: however many of these there are, they leave none of the
// others out. It changes no other order.
func WithinFirst[T any](violations []T, beyond func(T) bool) {
	slices.SortStableFunc(violations, func(a, b T) int {
		switch isBeyond := beyond(a); {
		case isBeyond == beyond(b):
			return 0
		case isBeyond:
			return 1
		}
		return -1
	})
}
