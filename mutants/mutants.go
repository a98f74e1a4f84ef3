// Package mutants is bugs planted into the library and into what it is tested with, to see that the scenarios catch them.
// A mutant is a change of the source that only ever exists in the overlay of a build: no mutant code lives in the library.
//
// [All] lists them, [Run] builds each and has scenarios run against it, and TABLE.md says what killed which.
package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Mutant is one planted bug.
type Mutant struct {
	Name string
	// Bug is what is wrong, in a line.
	Bug string
	// Real is where such a bug was seen; empty if it breaks a rule that nobody is known to have broken.
	Real string
	// Edits are the bug, in the order in which they are made.
	Edits []Edit
	// Killers are the scenarios that are not as expected with the bug in place.
	Killers []string
	// Tier is where they are run; model if empty. Bugs of the adapter and its scripts show on wire only.
	Tier string
	// Search is the arguments of a redlocksim command that finds the bug where no killer does, by its exit code.
	Search []string
	// Equivalent says of a mutant that nothing can kill why that is so.
	Equivalent string
}

// Edit is a change of a source file.
type Edit struct {
	// File is from the module's root.
	File string
	// Old, which stands in the file once, becomes New.
	Old, New string
}

// All lists the mutants: those of the library in the order of its files, those of its adapter, and those of what it is
// tested with.
func All() []Mutant {
	all := append(ofTheLibrary(), ofTheAdapter()...)
	return append(all, ofTheRest()...)
}

// ErrPlace is the error of Overlay for a mutant with an Old text that does not stand in its file exactly once.
var ErrPlace = errors.New("the place of the mutant has changed")

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
			return "", fmt.Errorf("mutants: %s: %w: %q stands %d times in %s", m.Name, ErrPlace, e.Old, n, e.File)
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

// Runner is the package of the command that runs a scenario and nothing else, and Whole that of the whole command.
const (
	Runner = "./mutants/runner"
	Whole  = "./cmd/redlocksim"
)

// Build builds one of these with the mutant in place into dir and returns its path. The module's own packages are not
// optimized, and nothing is kept for debuggers: that takes a third of the time, and runs are short.
func (m Mutant) Build(ctx context.Context, root, dir, what string) (string, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, m.Name)
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-gcflags=redlocksim/...=-N -l", "-ldflags=-s -w", "-o", binary, what)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutants: %s does not build: %w\n%s", m.Name, err, out)
	}
	return binary, nil
}
