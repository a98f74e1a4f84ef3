package generate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"redlocksim/internal/jobs"
)

// Draw is the order in which a seed draws the bugs, those of each statement by themselves. Every statement comes as early as
// any other, and of the bugs of a statement every class and then every bug, with classes taking turns: code that is long, or
// that fits many operators, has no more bugs than other code.
func (s *Set) Draw(seed string) [][]Mutant {
	hash := func(place, what string) string {
		sum := sha256.Sum256([]byte(seed + "\n" + place + "\n" + what))
		return string(sum[:])
	}
	of := map[string][]Mutant{}
	var places []string
	for _, m := range s.Mutants {
		place := fmt.Sprint(m.File(), " ", m.Statement)
		if of[place] == nil {
			places = append(places, place)
		}
		of[place] = append(of[place], m)
	}
	slices.SortFunc(places, func(a, b string) int { return strings.Compare(hash("", a), hash("", b)) })
	var order [][]Mutant
	for _, place := range places {
		all, turn, turns := of[place], map[string]int{}, map[Class]int{}
		slices.SortFunc(all, func(a, b Mutant) int { return strings.Compare(hash(place, a.Name), hash(place, b.Name)) })
		for _, m := range all {
			turn[m.Name] = turns[m.Class]
			turns[m.Class]++
		}
		slices.SortStableFunc(all, func(a, b Mutant) int {
			return cmp.Or(turn[a.Name]-turn[b.Name], strings.Compare(hash(place, string(a.Class)), hash(place, string(b.Class))))
		})
		order = append(order, all)
	}
	return order
}

// Sample is the first n bugs that the seed draws, one for a statement, less those that do not compile and those that compile to
// the code that there is without them. Those fall to the next bug of their statement.
func (s *Set) Sample(ctx context.Context, seed string, n int) ([]Mutant, error) {
	statements := s.Draw(seed)
	without := map[string]string{} // by package, what its code is without a bug
	for _, all := range statements {
		directory := path.Dir(all[0].File())
		if filepath.Ext(all[0].File()) != ".go" || without[directory] != "" {
			continue
		}
		var err error
		if without[directory], err = s.assembly(ctx, directory, ""); err != nil {
			return nil, err
		}
		if without[directory] == "" {
			return nil, fmt.Errorf("generate: %s does not compile without a bug", directory)
		}
	}
	var sample []Mutant
	for len(sample) < n && len(statements) > 0 {
		some := statements[:min(n-len(sample), len(statements))]
		statements = statements[len(some):]
		found, err := jobs.Set[struct{}, *Mutant]{
			N: len(some),
			Do: func(ctx context.Context, _ *struct{}, i int) (*Mutant, error) {
				for _, m := range some[i] {
					if isReal, err := s.isReal(ctx, m, without[path.Dir(m.File())]); isReal || err != nil {
						return &m, err
					}
				}
				return nil, nil
			},
			Name: func(i int) string { return some[i][0].Name },
		}.Run(ctx)
		if err := cmp.Or(err, context.Cause(ctx)); err != nil {
			return nil, err
		}
		for _, f := range found {
			if f.Value != nil {
				sample = append(sample, *f.Value)
			}
		}
	}
	return sample, nil
}

// isReal reports whether a bug compiles, and to other code than there is without it.
func (s *Set) isReal(ctx context.Context, m Mutant, without string) (bool, error) {
	if filepath.Ext(m.File()) == ".lua" {
		text, err := os.ReadFile(filepath.Join(s.root, m.File()))
		code := bytecode(strings.Replace(string(text), m.Edits[0].Old, m.Edits[0].New, 1))
		return code != "" && code != bytecode(string(text)), err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.Overlay(s.root, dir)
	if err != nil {
		return false, err
	}
	code, err := s.assembly(ctx, path.Dir(m.File()), "-overlay="+overlay)
	return code != "" && code != without, err
}

// positions are where instructions come from, which a change may shift.
var positions = regexp.MustCompile(`\([^()\n]*:\d+\)`)

// assembly is a hash of what a package compiles to with a flag; it is empty if the compiler rejects it.
//
// Comparing what comes out of the compiler finds the simplest equivalent mutants, and only such ("trivial compiler
// equivalence", Papadakis et al. 2015).
func (s *Set) assembly(ctx context.Context, directory, flag string) (string, error) {
	args := []string{"build", "-gcflags=-S", "-trimpath", "./" + directory}
	if flag != "" {
		args = slices.Insert(args, 1, flag)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = s.root
	listing, err := build.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, new(*exec.ExitError)):
		return "", nil
	case err != nil:
		return "", err
	case !bytes.Contains(listing, []byte("TEXT")):
		return "", fmt.Errorf("generate: the compiler lists no code for %s", directory)
	}
	sum := sha256.Sum256(positions.ReplaceAll(listing, nil))
	return string(sum[:]), nil
}
