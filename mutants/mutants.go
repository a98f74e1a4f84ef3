// Package mutants plants bugs into the library, and into what it is tested with, to check that the scenarios catch them. A
// mutant is a change of the source that exists only in the overlay of a build; the library has no mutant code.
//
// [All] lists them. go run ./mutants/measure planted builds each and runs what is to notice it; package generate makes mutants
// that nobody chose, which the same command measures.
package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
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

// Diff is the change as lines with - and +, without those around it that are the same.
func (e Edit) Diff() string {
	before, after := strings.SplitAfter(e.Old, "\n"), strings.SplitAfter(e.New, "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var b strings.Builder
	for sign, lines := range slices.All([][]string{before, after}) {
		for _, line := range lines {
			if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
				fmt.Fprintf(&b, "%c%s\n", "-+"[sign], line)
			}
		}
	}
	return b.String()
}

// All lists the mutants: those of the library, of its adapter, and of what it is tested with. A new one is an entry in one of
// these lists.
func All() []Mutant {
	return slices.Concat(library, semaphores, adapter, nodes, implementedAnew, services, resource)
}

// Fingerprint tells a mutant from what it was before somebody changed it.
func (m Mutant) Fingerprint() string {
	parts := []any{m.Edits, m.Killers, m.Tier}
	if m.Tests != nil {
		parts = append(parts, m.Tests)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Overlay writes the mutated files to dir, which has no other mutant's, and returns the path of an overlay file for go build
// -overlay. root is the module's root.
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
			mutated = filepath.Join(dir, fmt.Sprintf("mutated-%d%s", len(replace), filepath.Ext(e.File)))
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
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o666)
}
