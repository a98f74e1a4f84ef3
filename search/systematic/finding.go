package systematic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/shrink"
)

// Finding is one way to break the lock: a kind of violation and the kinds of faults that it takes.
type Finding struct {
	Kind     checker.Kind
	Families []string
	// Beyond says that the faults exceed the budget.
	Beyond bool
	// Times is in how many placements that kind of violation came up with those faults present.
	Times int
	// File is the name of the scenario file, if there is one.
	File string
	// Scenario is the smallest experiment that shows it, repeated on all tiers.
	Scenario *scenarios.Scenario
}

const (
	// maxFindings bounds how many classes of violations are shrunk, and shrinkRuns the runs that each takes.
	maxFindings = 40
	shrinkRuns  = 2000
)

// settle makes findings of the violations that count.
func (x *explorer) settle(ctx context.Context) error {
	for _, c := range x.classes {
		if c.beyond && !x.options.Beyond {
			continue
		}
		if f := x.explains(c.kind, c.families, c.beyond); f != nil {
			f.Times += c.times
			continue
		}
		if len(x.summary.Findings) == maxFindings || ctx.Err() != nil {
			x.summary.Unshrunk++
			continue
		}
		f, err := x.shrink(ctx, c)
		if err != nil && ctx.Err() != nil {
			x.summary.Unshrunk++
			continue
		}
		if err != nil {
			return err
		}
		if known := x.explains(f.Kind, f.Families, f.Beyond); known != nil {
			known.Times += f.Times
			continue
		}
		if err := x.keep(&f); err != nil {
			return err
		}
		x.summary.Findings = append(x.summary.Findings, f)
	}
	return nil
}

// explains is the finding that violations are other instances of, as far as kinds tell; nil if there is none.
func (x *explorer) explains(kind checker.Kind, families []string, beyond bool) *Finding {
	for i := range x.summary.Findings {
		f := &x.summary.Findings[i]
		if f.Kind == kind && (beyond || !f.Beyond) && !slices.ContainsFunc(f.Families, func(kind string) bool { return !slices.Contains(families, kind) }) {
			return f
		}
	}
	return nil
}

// shrink makes a finding of the first violation of a class.
func (x *explorer) shrink(ctx context.Context, c *class) (Finding, error) {
	o := scenarios.Options{Seed: x.base.Seed}
	broken := func(s *scenarios.Scenario) (bool, error) {
		// What it is about stays as it is, which shrinking could make simpler.
		if base := x.base.Scenario; !reflect.DeepEqual(s.Lock, base.Lock) || s.Nodes.Persistence != base.Nodes.Persistence || s.Storage != base.Storage {
			return false, nil
		}
		r, err := scenarios.Judge(s, o)
		return err == nil && slices.Contains(r.Findings, c.kind) && (c.beyond || r.Beyond == nil), err
	}
	small, _, err := shrink.Shrink(ctx, x.base.place(c.placed), broken, shrink.Options{Runs: shrinkRuns})
	if err != nil {
		return Finding{}, err
	}
	example, err := shrink.Counterexample(small, x.base.Seed)
	if err != nil {
		return Finding{}, err
	}
	return Finding{Kind: c.kind, Families: search.Families(example), Beyond: example.Claim == scenarios.Holds, Times: c.times, Scenario: example}, nil
}

// keep names a finding, and writes its files if there is a directory for them.
func (x *explorer) keep(f *Finding) error {
	f.Scenario.Name = strings.Join(append([]string{fmt.Sprint(len(x.summary.Findings) + 1), string(f.Kind)}, f.Families...), "-")
	if x.options.Dir == "" {
		return nil
	}
	data, err := f.Scenario.Encode()
	if err != nil {
		return err
	}
	test, err := shrink.GoTest(f.Scenario, x.base.Seed)
	if err != nil {
		return err
	}
	f.File = f.Scenario.Name + ".yaml"
	return errors.Join(
		os.MkdirAll(x.options.Dir, 0o777),
		os.WriteFile(filepath.Join(x.options.Dir, f.File), data, 0o666),
		os.WriteFile(filepath.Join(x.options.Dir, f.Scenario.Name+"_test.go"), []byte(test), 0o666))
}
