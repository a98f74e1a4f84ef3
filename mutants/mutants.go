// Package mutants is bugs planted into the library, to see that the scenarios catch them. A mutant is a change of the
// source that only ever exists in the overlay of a build: no mutant code lives in the library.
package mutants

import (
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
	// Real is where such a bug was seen, or the rule that it breaks.
	Real string
	// File is the source file, from the module's root; Old, which stands in it once, becomes New.
	File, Old, New string
	// Killers are the scenarios that must not be as expected with the bug in place.
	Killers []string
}

// All lists the mutants.
func All() []Mutant {
	return []Mutant{
		{"release-by-del", "the release deletes whatever is there (the shortcut in several tutorials)",
			"sim/model/model.go", "if r, ok := s.get(key, now); ok && r.value == c.Value {", "if _, ok := s.get(key, now); ok {",
			[]string{"09-contention"}},
		{"quorum-one-less", "quorum N/2 instead of N/2+1",
			"redlock/quorum.go", "func Majority(n int) int { return n/2 + 1 }", "func Majority(n int) int { return n / 2 }",
			[]string{"09-contention"}},
		{"waits-for-all", "the decision waits for every node (redsync without fail-fast, node-redlock)",
			"redlock/quorum.go", "return b.accepted.len() >= quorum }", "return b.pending() == 0 && b.accepted.len() >= quorum }",
			[]string{"10-two-nodes-crash"}},
		{"no-ttl", "SETNX without an expiry",
			"sim/model/model.go", "s.keys[key] = record{c.Value, now + ttl}", "s.keys[key] = record{c.Value, 0}",
			[]string{"12-holder-dies"}},
		{"no-drift", "the validity ignores clock drift (redsync #37 added it with the wrong sign)",
			"redlock/validity.go", "return ttl - elapsed - drift }", "return ttl - elapsed }",
			[]string{"22-clock-rates/covered"}},
		{"no-second-reading", "the validity is not checked after the acquire (node-redlock #296, #369)",
			"redlock/attempt.go", "validity := Validity(t.ttl, now.Sub(r.start), t.drift)", "validity := Validity(t.ttl, 0, t.drift)",
			[]string{"31-slow-acquire/pause", "31-slow-acquire/delayed-replies"}},
		{"no-partial-release", "partial votes are not released before the retry (node-redlock #369)",
			"redlock/release.go", "r.awaited = acquire.ballot.replied()", "r.ballot.asked = 0",
			[]string{"13-split-votes"}},
	}
}

// ErrPlace is the error of Overlay for a mutant whose Old text does not stand in its file exactly once.
var ErrPlace = errors.New("the place of the mutant has changed")

// Overlay writes the mutated file to dir and returns the path of an overlay file for go build -overlay. root is the
// module's root.
func (m Mutant) Overlay(root, dir string) (string, error) {
	original, err := filepath.Abs(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		return "", fmt.Errorf("mutants: %s: %w: %q stands %d times in %s", m.Name, ErrPlace, m.Old, n, m.File)
	}
	mutated := filepath.Join(dir, m.Name+".go")
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o666); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, m.Name+".json")
	return path, os.WriteFile(path, overlay, 0o666)
}

// Build builds the command with the mutant in place into dir and returns its path.
func (m Mutant) Build(root, dir string) (string, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, m.Name)
	build := exec.Command("go", "build", "-overlay", overlay, "-o", binary, "./cmd/redlocksim")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutants: %s does not build: %w\n%s", m.Name, err, out)
	}
	return binary, nil
}
