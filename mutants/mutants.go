// Package mutants plants bugs into the library, and into what it is tested with, to check that the scenarios catch them. A
// mutant is a change of the source that exists only in the overlay of a build; the library has no mutant code.
//
// [All] lists them, [Run] builds each and runs scenarios and searches against it, and TABLE.md says what killed which. go run
// ./mutants/verify writes it.
package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is one planted bug.
type Mutant struct {
	Name string
	// Bug is what is wrong, in a line.
	Bug string
	// Real is where such a bug was seen; empty if it breaks a rule that nobody is known to have broken.
	Real string
	// Edits make the bug, in this order.
	Edits []Edit
	// Killers are the scenarios that fail with the bug in place.
	Killers []string
	// Tests are the unit tests that fail with it, for a bug of something that the simulator does not have.
	Tests []Test
	// Tier is where the scenarios run; model if empty. Bugs of the adapter and its scripts show only on wire.
	Tier string
	// Equivalent says why nothing can kill the mutant; empty if something can.
	Equivalent string
}

// Test is a unit test. It may need redis-server.
type Test struct {
	// Package is its directory from the module's root. Name may be that of a part, as in TestAdapter/Listen.
	Package, Name string
}

func (t Test) String() string { return t.Package + "." + t.Name }

// Edit is a change of a source file.
type Edit struct {
	// File is from the module's root.
	File string
	// Old, which must be in the file exactly once, becomes New.
	Old, New string
}

// All lists the mutants: those of the library, of its adapter, and of what it is tested with. A new one is an entry in one of
// these lists.
func All() []Mutant {
	return slices.Concat(library, semaphores, adapter, nodes, protocols, services, resource)
}

// Overlay writes the mutated files to dir and returns the path of an overlay file for go build -overlay. root is the
// module's root.
func (m Mutant) Overlay(root, dir string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, e := range m.Edits {
		original := filepath.Join(root, e.File)
		mutated, again := replace[original]
		from := original
		if again {
			from = mutated
		} else {
			mutated = filepath.Join(dir, fmt.Sprintf("%s-%d%s", m.Name, len(replace), filepath.Ext(e.File)))
			replace[original] = mutated
		}
		source, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(source), e.Old); n != 1 {
			return "", fmt.Errorf("mutants: %s: %q is in %s %d times instead of once", m.Name, e.Old, e.File, n)
		}
		if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), e.Old, e.New, 1)), 0o666); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, m.Name+".json")
	return path, os.WriteFile(path, overlay, 0o666)
}

// runner is the package of the command that runs a scenario or a search with the mutant in place.
const runner = "./mutants/runner"

// Build builds the runner with the mutant in place into dir and returns its path. Without optimization and debug information
// that takes a third of the time; runs are short.
func (m Mutant) Build(ctx context.Context, root, dir string) (string, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, m.Name)
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-gcflags=redlocksim/...=-N -l", "-ldflags=-s -w", "-o", binary, runner)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("mutants: %s: %w", m.Name, context.Cause(ctx))
		}
		return "", fmt.Errorf("mutants: %s does not build: %w\n%s", m.Name, err, out)
	}
	return binary, nil
}

// Problems lists what is wrong with a result: the mutant survives, or one of its Killers or Tests does not kill it.
func (m Mutant) Problems(r Result) []string {
	var problems []string
	killers := slices.Clone(m.Killers)
	for _, t := range m.Tests {
		killers = append(killers, t.String())
	}
	if len(r.KilledBy) == 0 && m.Equivalent == "" {
		problems = append(problems, fmt.Sprintf("%s survives: %s", m.Name, m.Bug))
	}
	for _, name := range killers {
		if !slices.ContainsFunc(r.KilledBy, func(k Kill) bool { return k.By == name }) {
			problems = append(problems, fmt.Sprintf("%s is not killed by %s", m.Name, name))
		}
	}
	return problems
}
