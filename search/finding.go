package search

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
	"redlocksim/history"
	"redlocksim/scenarios"
	"redlocksim/search/shrink"
)

const (
	// shrinksPerGeneration bounds how many violations are shrunk in a generation, and shrinksAtATime how many before
	// those waiting are compared with what came out.
	shrinksPerGeneration = 8
	shrinksAtATime       = 4
	// shrinkRuns bounds the runs that shrinking one takes.
	shrinkRuns = 3000
	// maxPending bounds how many wait.
	maxPending = 200
	// maxRaw bounds how many are written down before they are shrunk.
	maxRaw = 20
)

const rawPrefix = "raw-"

// keepRaw writes a violation down the moment it is found, not shrunk yet, so that it is there if the search is killed.
func (x *explorer) keepRaw(t *trial, run int) error {
	if x.options.Dir == "" || x.raw.Add(1) > maxRaw {
		return nil
	}
	s := t.candidate.Scenario(x.space)
	s.Title, s.Source = fmt.Sprintf("%s, not shrunk yet", t.kinds[0]), "a random search"
	s.Explanation = fmt.Sprintf("Run %d.", run)
	s.Recorded = &scenarios.Recorded{Seed: t.candidate.Seed, History: t.history}
	data, err := s.Encode()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(x.options.Dir, fmt.Sprintf("%s%d.yaml", rawPrefix, run)), data)
}

// removeRaw removes these files, and what a killed process had not written to its end.
func removeRaw(dir string) error {
	var err error
	for _, pattern := range []string{rawPrefix + "*.yaml", tempPattern} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are right
		for _, path := range found {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// reduce takes out of a violating experiment, one after another, the faults that are known to bring about such a
// violation by themselves, for as long as it still has one. In the end either nothing that is known explains it, or it
// needs what is known.
func (x *explorer) reduce(p pending) (pending, error) {
	var buffer history.History
	for {
		known := x.Summary.explains(p.Kind, p.Families)
		if known == 0 {
			return p, nil
		}
		f := &x.Summary.Findings[known-1]
		without := p.Candidate.then(Change{Without: f.Families})
		var t trial
		if len(f.Families) > 0 {
			var err error
			if t, err = x.space.try(without, &buffer); err != nil {
				return p, err
			}
		}
		if !slices.Contains(t.kinds, p.Kind) || !x.counts(&t) {
			p.Known = known
			return p, nil
		}
		p.Candidate, p.Families = without, t.families
	}
}

// settle shrinks violations that wait, at most limit of them, and counts those that what is known explains.
func (x *explorer) settle(ctx context.Context, limit int) error {
	x.raw.Store(0)
	for {
		if err := x.explain(); err != nil {
			return err
		}
		batch := x.batch(min(limit, shrinksAtATime))
		if len(batch) == 0 || ctx.Err() != nil {
			break
		}
		limit -= len(batch)
		found := make([]Finding, len(batch))
		err := x.each(ctx, len(batch), func(i int, _ *history.History) (err error) {
			found[i], err = x.shrink(ctx, batch[i])
			return err
		})
		if err != nil || ctx.Err() != nil {
			return err
		}
		for i := range found {
			if err := x.report(found[i]); err != nil {
				return err
			}
		}
		x.Pending = slices.DeleteFunc(x.Pending, func(p pending) bool {
			return slices.ContainsFunc(batch, func(b pending) bool { return b.Run == p.Run && b.Kind == p.Kind })
		})
	}
	if over := len(x.Pending) - maxPending; over > 0 {
		x.Summary.Unshrunk += over
		x.Pending = x.Pending[:maxPending]
	}
	return nil
}

// explain counts the violations that what is known explains, and forgets them.
func (x *explorer) explain() error {
	rest := x.Pending[:0:0]
	for _, p := range x.Pending {
		if p.Known == 0 {
			var err error
			if p, err = x.reduce(p); err != nil {
				return err
			}
		}
		if p.Known == 0 {
			rest = append(rest, p)
		} else {
			x.Summary.Findings[p.Known-1].Times++
		}
	}
	x.Pending = rest
	return nil
}

// finish shrinks all that wait, once all runs are made, and keeps what it has after each few.
func (x *explorer) finish(ctx context.Context) error {
	for len(x.Pending) > 0 {
		if err := x.settle(ctx, shrinksAtATime); err != nil || ctx.Err() != nil {
			return err
		}
		if err := x.save(); err != nil {
			return err
		}
	}
	return nil
}

// batch is the first violations that wait and do not look alike.
func (x *explorer) batch(n int) []pending {
	var batch []pending
	for _, p := range x.Pending {
		alike := func(b pending) bool { return b.Kind == p.Kind && slices.Equal(b.Families, p.Families) }
		if len(batch) < n && !slices.ContainsFunc(batch, alike) {
			batch = append(batch, p)
		}
	}
	return batch
}

// shrink makes a finding of a violation: the smallest experiment that still has it, repeated on both tiers.
func (x *explorer) shrink(ctx context.Context, p pending) (Finding, error) {
	s := p.Candidate.Scenario(x.space)
	if err := withoutIdle(s, p.Candidate.Seed); err != nil {
		return Finding{}, err
	}
	small, _, err := shrink.Shrink(ctx, s, x.space.same(p.Kind, p.Candidate.Seed), shrink.Options{Runs: x.options.shrinkRuns})
	if err != nil {
		return Finding{}, err
	}
	// What is left may end too early for some of it, if shrinking did not come to its end.
	if err := withoutIdle(small, p.Candidate.Seed); err != nil {
		return Finding{}, err
	}
	example, err := shrink.Counterexample(small, p.Candidate.Seed)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Kind: p.Kind, Families: Families(example), Run: p.Run, Seed: p.Candidate.Seed, Times: 1, Scenario: example}
	// A counterexample claims what holds within its budget, and shows that it does not beyond it.
	f.Beyond = example.Claim == scenarios.Holds
	for _, item := range example.Timeline {
		if item.Fault != nil {
			f.Faults++
		}
	}
	return f, nil
}

// withoutIdle takes out of an experiment what does not happen in it, which changes nothing else.
func withoutIdle(s *scenarios.Scenario, seed uint64) error {
	out, err := scenarios.Run(s, scenarios.Options{Seed: seed})
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(out.Left) {
		s.Timeline = slices.Delete(s.Timeline, i, i+1)
	}
	return nil
}

// same says whether an experiment still shows a kind of violation, and still counts: with the settings that the search is
// about, and in a run that is more than nothing.
func (s Space) same(kind checker.Kind, seed uint64) func(*scenarios.Scenario) (bool, error) {
	return func(x *scenarios.Scenario) (bool, error) {
		if !reflect.DeepEqual(x.Lock, s.Base.Lock) || x.Nodes.Persistence != s.Base.Nodes.Persistence || x.Storage != s.Base.Storage {
			return false, nil
		}
		r, err := scenarios.Judge(x, scenarios.Options{Seed: seed, Unhashed: true})
		if err != nil {
			return false, err
		}
		return slices.Contains(r.Findings, kind) && !slices.Contains(r.Findings, checker.Vacuous) && (s.Beyond || r.Beyond == nil), nil
	}
}

// report adds a finding to the summary, unless another one explains it, and writes its files.
func (x *explorer) report(f Finding) error {
	if known := x.Summary.explains(f.Kind, f.Families); known != 0 {
		x.Summary.Findings[known-1].Times++
		return nil
	}
	f.Scenario.Name = f.name(len(x.Summary.Findings) + 1)
	if x.options.Dir != "" {
		f.File = f.Scenario.Name + ".yaml"
		if err := f.write(x.options.Dir); err != nil {
			return err
		}
	}
	x.Summary.Findings = append(x.Summary.Findings, f)
	return nil
}

// write writes the scenario file and the Go test of a finding.
func (f *Finding) write(dir string) error {
	data, err := f.Scenario.Encode()
	if err != nil {
		return err
	}
	test, err := shrink.GoTest(f.Scenario, f.Seed)
	if err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(dir, f.File), data),
		writeFile(filepath.Join(dir, testFile(f.File)), []byte(test)))
}

// name is what a finding is called, the number-th of its search.
func (f *Finding) name(number int) string {
	name := fmt.Sprintf("%d-%s", number, f.Kind)
	if len(f.Families) > 0 {
		name += "-" + strings.Join(f.Families, "-")
	}
	return name
}

// testFile is the name of the Go test beside a scenario file, and asIs that of the file itself.
func testFile(name string) string { return strings.TrimSuffix(name, ".yaml") + "_test.go" }
func asIs(name string) string     { return name }
